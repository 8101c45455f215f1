"""News of virtual time, and instant crawls of them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Done, Hints, Kind, Outcome, Result, Sighting, Slot, Validators, Wait
from sharc_crawler.state.spec import CaptureSpec

A, B = "http://h.example/a/", "http://h.example/b/"
POLITE = Politeness(delay=1.0, obey_robots=False, back_off=1.0)


@dataclass
class News:
    """Hubs by URL, with the instants at which they add a page; what else answers is 200 and names nothing."""

    adds: dict[str, list[float]]
    extra: dict[str, list[Sighting]] = field(default_factory=dict)
    answers: dict[str, Result] = field(default_factory=dict)
    dated: bool = False
    fetches: list[tuple[float, object]] = field(default_factory=list)

    def names(self, url, now):
        times = [t for t in self.adds.get(url, []) if t <= now]
        hints = [Hints(published=t) if self.dated else None for t in times]
        pages = [Sighting(f"{url}{t:g}.html", Kind.PAGE, url, h) for t, h in zip(times, hints, strict=True)]
        return pages + self.extra.get(url, [])

    def answer(self, fetch, now):
        result = self.answers.get(fetch.url, Result.OK)
        names = self.names(fetch.url, now)
        tag = f'"{len(names)}"'
        if fetch.slot is Slot.SECOND and fetch.validators.etag == tag:
            return Outcome(Result.NOT_MODIFIED, now, now + 0.1, 304), []
        outcome = Outcome(result, now, now + 0.1, digest=f"sha1:{fetch.url}{tag}", validators=Validators(tag))
        return outcome, names if result is Result.OK else []

    def run(self, frontier, now, until=math.inf):
        while not isinstance(what := frontier.next(now), Done):
            if isinstance(what, Wait):
                assert what.until > now, "the frontier would spin"
                now = what.until
            else:
                outcome, links = self.answer(what, now)
                self.fetches.append((now, what))
                now = outcome.ended
                frontier.finished(what, outcome, links)
            if now >= until:
                return now
        return now


def spec(*seeds, **changed):
    return CaptureSpec("h.example", seeds, "bfs:revisits=none", sitemaps=(), mode="instant", **changed)


def begin(terms, *seeds, store=None, politeness=POLITE, **changed):
    frontier = Frontier(politeness, store, terms=terms)
    frontier.open(spec(*seeds, **changed), 0.0)
    return frontier


def fetched(news, kind=Kind.PAGE):
    return [fetch.url for _, fetch in news.fetches if fetch.kind is kind]
