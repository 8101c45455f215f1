"""Visits before T that hints had led to, told to a frontier that does not weigh hints: state that is made again."""

from __future__ import annotations

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.known_urls import UNSEEN
from sharc_crawler.model import Kind, Phase, Slot


def visit_again(frontier: Frontier, url: str, kind: Kind) -> bool:
    """A page or sitemap that has been visited is visited once more, before T; False: it cannot be."""
    capture, pages = frontier.capture, frontier.pages
    page = capture.seen.get(url)
    early = capture.phase is Phase.VISIT and page != UNSEEN and pages.kinds[page] is kind
    if not early or pages.states[page] != State.VISITED:
        return False
    if kind is Kind.SITEMAP:
        capture.owed.before_visits(page)
    frontier.ledger.owe(page, Slot.SECOND if kind is Kind.SITEMAP else Slot.FIRST)
    return True
