"""What pages embed: each once, however it is embedded, and what was there alone."""

from __future__ import annotations

from sharc_crawler.evidence.completeness import Completeness
from sharc_crawler.evidence.facts import PageFacts
from sharc_crawler.model import Kind, Url, Verdict

PAGE, STYLE, IMPORTED, ALONE = (Url(f"http://h.example/{name}") for name in ("", "a.css", "b.css", "c.css"))


def url(name: Url, kind: Kind = Kind.RESOURCE, embeds: tuple[Url, ...] = (), verdict=Verdict.COHERENT) -> PageFacts:
    return PageFacts(name, kind, "link", 0, 0.1, "sitemap", verdict=verdict, embeds=embeds)


def test_style_sheets_that_import_each_other_are_counted_once():
    page = url(PAGE, Kind.PAGE, (STYLE,))
    found = Completeness({"": 1.0})
    for one in (page, url(STYLE, embeds=(IMPORTED,)), url(IMPORTED, embeds=(STYLE,), verdict=Verdict.CHANGED)):
        found.meet(one)
    assert found.of(page) is Verdict.CHANGED
    assert found.embedded()[0] == {Verdict.COHERENT: 1, Verdict.CHANGED: 1}


def test_a_resource_that_nothing_embeds_is_part_of_no_page():
    found = Completeness({"": 1.0})
    for one in (url(PAGE, Kind.PAGE, (STYLE,)), url(STYLE), url(ALONE)):
        found.meet(one)
    assert found.embedded()[0] == {Verdict.COHERENT: 1}
