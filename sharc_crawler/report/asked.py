"""What a site asks for, or may have taken for an order, in sentences."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.guides import guide
from sharc_crawler.model import Kind
from sharc_crawler.plural import counted
from sharc_crawler.report.marks import LOCKED, MANY, ORDERS
from sharc_crawler.report.words import short

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.evidence.facts import CaptureFacts


def told(facts: CaptureFacts, captured: int) -> Iterator[str]:
    """Pages that are shown to whoever has a password; addresses that look like orders, as they were asked for."""
    number = facts.figures.missing[Kind.PAGE, LOCKED]
    if number > MANY * (captured + number) and "spider" not in facts.settings:
        refused = "its session was not taken" if facts.settings.get("session") else "netrc=FILE gives both"
        yield (
            f"{counted(number, 'page', 'want')} a user and a password (status 401): {refused}; where members log in by"
            f" a form, cookies=FILE has their session ({guide('capturing')}, logged in)"
        )
    if number := facts.figures.orders:  # a cart's counter stands on each page
        yield (
            f"{counted(number, 'address', 'look')} {ORDERS}, as {short(facts.figures.order)}: that they were asked for"
            " may have changed something there, and what other pages show of it"
        )
