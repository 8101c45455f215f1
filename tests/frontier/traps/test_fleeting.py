"""Which pages are asked again for their links."""

from __future__ import annotations

from types import SimpleNamespace

from sharc_crawler.frontier.traps.fleeting import FleetingLinks
from sharc_crawler.model import Kind


def test_a_page_is_asked_again_once_though_no_answer_has_come_yet():
    pages = SimpleNamespace(parents=[-1, 0, 0], kinds=[Kind.PAGE] * 3)
    links = FleetingLinks(SimpleNamespace(echoes={}, first={}), SimpleNamespace())
    assert links.wants(1, pages)
    links.asked(0)
    assert not links.wants(2, pages)
