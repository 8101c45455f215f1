"""Sitemaps that lie, break or never end: second looks stay within their share and the budget, and T comes."""

from __future__ import annotations

from collections import Counter

import pytest

from sharc_crawler.frontier.modes.before_reference import ROUNDS
from sharc_crawler.model import Fetch, Hints, Kind, Outcome, Result, Sighting, Slot, Verdict
from tests.frontier.modes.test_second_looks import DAY, MAP, PAGES, ROOT, Crawl, Site

MOST = 30  #: pages of the site that grows, for each reading
BROKEN = {"gone": (Result.GONE, 404), "failing": (Result.FAILED, 500), "empty": (Result.OK, 200)}


class Hostile(Site):
    """``kind`` says how."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        self.kind, self.readings = kind, 0
        self.shown: dict[str, list[tuple[Slot, str | None]]] = {}

    def listed(self, now: float) -> list[Sighting]:
        self.readings += 1
        if self.kind in BROKEN and self.readings > 1:
            return []
        if self.kind == "growing":
            more = [f"{ROOT}more/{number}" for number in range(MOST * (self.readings - 1))]
            return [Sighting(url, via=MAP, hints=Hints(now - 1.0)) for url in (*PAGES, *more)]
        if self.kind in {"future", "lively"}:
            word = now + DAY if self.kind == "future" else now - 1.0
            return [Sighting(url, via=MAP, hints=Hints(word)) for url in PAGES]
        return super().listed(now)

    def answer(self, fetch: Fetch, now: float) -> Outcome:
        if fetch.kind is Kind.SITEMAP and self.readings and self.kind in BROKEN:
            result, status = BROKEN[self.kind]
            return Outcome(result, now, now + 0.01, status, "sha1:broken" if result is Result.OK else None)
        outcome = super().answer(fetch, now)
        if fetch.kind is Kind.PAGE:
            if self.kind == "lively":
                outcome = outcome._replace(digest=f"sha1:{now}")
            self.shown.setdefault(fetch.url, []).append((fetch.slot, outcome.digest))
        return outcome

    def coherent(self, url: str) -> bool:
        """Did the last visit before T show what the revisit showed?"""
        firsts = [digest for slot, digest in self.shown[url] if slot is not Slot.SECOND and digest]
        seconds = [digest for slot, digest in self.shown[url] if slot is Slot.SECOND]
        return not seconds or firsts[-1] == seconds[-1]


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("kind", ["future", "lively", "growing", *BROKEN])
def test_a_hostile_sitemap(kind):
    site = Hostile(kind)
    crawl = Crawl(site, hints=0.1, limit=300)
    slots = Counter(one.slot for one in crawl.fetches if one.kind is Kind.PAGE)
    asked = sum(one.kind is Kind.SITEMAP for one in crawl.fetches)
    pages = len(crawl.verdicts)
    assert len(PAGES) <= pages <= 300
    assert slots[Slot.SECOND] >= pages - 1, "all were revisited: T was fixed"
    assert len(crawl.again()) <= 0.1 * 2 * pages
    assert asked <= ROUNDS + 8, "attempts that failed included"
    assert all(site.coherent(url) for url, verdict in crawl.verdicts.items() if verdict is Verdict.COHERENT)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    "most",
    [
        *range(150, 275, 27),
        *(pytest.param(most, marks=pytest.mark.long) for most in range(150, 275, 9) if (most - 150) % 27),
    ],
)
def test_no_revisit_is_given_up_for_a_second_look(most):
    found = [Crawl(Site(), hints=share, max_requests=most) for share in (0.0, 0.3)]
    assert all(len(crawl.fetches) <= most for crawl in found)
    without, crawl = (list(crawl.verdicts.values()) for crawl in found)
    assert len(crawl) >= len(without)
    assert crawl.count(Verdict.UNKNOWN) <= without.count(Verdict.UNKNOWN)
    assert crawl.count(Verdict.COHERENT) >= without.count(Verdict.COHERENT)


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize("hours", [2.0, 3.0, 4.0, 4.5])
def test_time_that_is_nearly_used_up(hours):
    found = [Crawl(Site(), hints=share, max_time=hours * 3600) for share in (0.0, 0.3)]
    without, crawl = (list(crawl.verdicts.values()) for crawl in found)
    assert crawl.count(Verdict.UNKNOWN) <= without.count(Verdict.UNKNOWN) + 2
    assert crawl.count(Verdict.COHERENT) >= without.count(Verdict.COHERENT) - 2
