"""Captures that are cut off and go on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Done, Fetch, Hints, Kind, Outcome, Result, Sighting, Slot, Verdict
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

ROOT = "http://a.example/"
STRATEGIES = ("sharc-selective", "sharc-online", "bfs", "dfs:revisits=fifo")
LINKS = {
    ROOT: [
        Sighting(ROOT + "style.css", Kind.RESOURCE),
        *(Sighting(f"{ROOT}{i}", hints=Hints(changefreq="daily")) for i in range(6)),
    ],
    ROOT + "style.css": [Sighting(ROOT + "bg.png", Kind.RESOURCE)],
    ROOT + "3": [Sighting(ROOT + "deep"), Sighting(ROOT + "i.png", Kind.RESOURCE)],
    ROOT + "deep": [Sighting(ROOT + "deeper")],
    ROOT + "map.xml": [Sighting(ROOT + "listed", hints=Hints(changefreq="hourly"))],
}
ROBOTS = f"User-agent: *\nDisallow: /5\nSitemap: {ROOT}map.xml\n"


def answer(fetch: Fetch, now: float) -> Outcome:
    result, status, digest = Result.OK, 200, "sha1:" + fetch.url
    if fetch.url.endswith("/4") and fetch.slot is Slot.SECOND:
        digest = "sha1:other"
    if fetch.url.endswith("/2"):
        result, status, digest = Result.GONE, 404, None
    return Outcome(result, now, now + 0.01, status, digest, robots=ROBOTS if fetch.kind is Kind.ROBOTS else None)


def run(
    frontier: Frontier, now: float, steps: int, links: Mapping[str, Sequence[Sighting]] = LINKS
) -> tuple[float, int]:
    """At most so many steps; half of the interruptions strike while a fetch is under way."""
    for made in range(steps):
        decision = frontier.next(now)
        if isinstance(decision, Done):
            return now, made
        if isinstance(decision, Fetch):
            if made == steps - 1:
                return now, steps  # cut off in flight
            frontier.finished(decision, answer(decision, now), links.get(decision.url, ()))
            now += 0.01
        else:
            now = decision.until
    return now, steps


def run_answered(
    frontier: Frontier, now: float, steps: int, answered: Callable[[Fetch, float], tuple[Outcome, Sequence[Sighting]]]
) -> float:
    """So many fetches, or all; the last one is cut off in flight. ``answered``: outcome and links of a fetch."""
    while not isinstance(decision := frontier.next(now), Done):
        if not isinstance(decision, Fetch):
            now = decision.until
            continue
        steps -= 1
        if not steps:
            break
        frontier.finished(decision, *answered(decision, now))
        now += 0.01
    return now


def crawl(
    strategy: str, cuts: list[int], subsites: str = "", links: Mapping[str, Sequence[Sighting]] = LINKS, size: int = 0
) -> MemoryStore:
    """A capture that is cut off after so many steps, again and again, then runs to its end."""
    store = MemoryStore()
    politeness = Politeness(delay=0.0)
    frontier = Frontier(politeness, store)
    frontier.open(CaptureSpec("a.example", (ROOT,), strategy=strategy, subsites=subsites, size=size), 1000.0)
    now = 1000.0
    for steps in cuts:
        now, _ = run(frontier, now, steps, links)
        now += 5.0
        frontier = Frontier(politeness, store)
        frontier.restore(store.load(), now)
    _, made = run(frontier, now, 500, links)
    assert made < 500
    assert frontier.done
    return store


def results(store: MemoryStore) -> dict[str, tuple[int, Verdict | None]]:
    """Finished fetches and verdict by URL."""
    state = store.load()
    verdicts = {row.page: row.verdict for row in state.judgements}
    assert len(verdicts) == len(state.judgements), "judged once"
    return {
        row.url: (sum(v.page == row.page and v.finished for v in state.visits), verdicts.get(row.page))
        for row in state.pages
        if row.kind is not Kind.ROBOTS
    }
