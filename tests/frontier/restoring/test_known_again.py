"""A frontier that goes on knows what the one before it knew, wherever that was cut off, and asks for the same next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.spec import CaptureSpec
from sharc_crawler.model import Done, Fetch, Hints, Kind, Outcome, Result, Sighting, Slot, Validators
from sharc_crawler.polling.terms import Terms
from sharc_crawler.storage.memory import MemoryStore

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sharc_crawler.frontier.rows import Batch

ROOT, FAR = "http://a.example/", "http://cdn.example/"
ROBOTS = f"User-agent: *\nDisallow: /5\nCrawl-delay: 0\nSitemap: {ROOT}map.xml\n"


def pages(*paths: str) -> list[Sighting]:
    return [Sighting(ROOT + path) for path in paths]


def resources(*urls: str) -> list[Sighting]:
    return [Sighting(url if "://" in url else ROOT + url, Kind.RESOURCE) for url in urls]


def answer(fetch: Fetch, now: float) -> Outcome:
    """``/1`` has moved, ``/2`` is gone, ``/5`` is forbidden, ``/4`` changes; the other host's robots.txt fails."""
    if fetch.url == f"{FAR}robots.txt":
        return Outcome(Result.FAILED, now, now + 0.01, 503)
    if fetch.url == f"{ROOT}1":
        return Outcome(Result.REDIRECTED, now, now + 0.01, 301, location=f"{ROOT}moved")
    if fetch.url in (f"{ROOT}2", f"{ROOT}gone.xml"):
        return Outcome(Result.GONE, now, now + 0.01, 404)
    changed = "changed" * (fetch.url == f"{ROOT}4" and fetch.slot is Slot.SECOND)
    found = Outcome(Result.OK, now, now + 0.01, 200, f"sha1:{fetch.url}{changed}", f"text of {fetch.url}", length=100)
    return found._replace(robots=ROBOTS) if fetch.kind is Kind.ROBOTS else found._replace(validators=Validators('"x"'))


def unmodified(fetch: Fetch, now: float) -> Outcome:
    found = answer(fetch, now)
    same = found.result is Result.OK and bool(fetch.validators)
    return Outcome(Result.NOT_MODIFIED, now, now + 0.01, 304, validators=fetch.validators) if same else found


def moved(fetch: Fetch, now: float) -> Outcome:
    """The seed leads to another host, whose robots.txt allows all."""
    if fetch.url == ROOT:
        return Outcome(Result.REDIRECTED, now, now + 0.01, 301, location=FAR)
    return answer(fetch, now) if fetch.kind is not Kind.ROBOTS else Outcome(Result.OK, now, now + 0.01, 200, robots="")


def alike(fetch: Fetch, now: float) -> Outcome:
    """All pages but the seed show the same, and so does what cannot exist."""
    found = answer(fetch, now)
    looks = fetch.kind in (Kind.PAGE, Kind.PROBE) and fetch.url != ROOT
    return found._replace(fingerprint="the same") if looks else found


LINKS = {
    ROOT: [*resources("style.css", f"{FAR}x.js"), *pages("0", "1", "2", "3", "4", "5")],
    f"{ROOT}style.css": resources("bg.png"),
    f"{ROOT}3": [*pages("deep"), *resources("i.png"), Sighting("http://elsewhere.example/x")],
    f"{ROOT}deep": pages("deeper"),
    f"{ROOT}map.xml": [
        Sighting(f"{ROOT}listed", hints=Hints(changefreq="hourly", lastmod=500.0)),
        Sighting(f"{FAR}listed"),
        *(Sighting(ROOT + name, Kind.SITEMAP) for name in ("gone.xml", "more.xml")),
    ],
}
ELSEWHERE = {
    f"{ROOT}sitemap.xml": [Sighting(f"{FAR}listed")],
    FAR: [Sighting(f"{FAR}a"), *resources(f"{FAR}b.png")],
}
FOLDERS = {ROOT: pages(*(f"{'ab'[at % 2]}/{at}" for at in range(8))), f"{ROOT}a/2": resources("a/2.png")}
ALIKE = {ROOT: pages(*(f"{name}x" for name in "abcdefgh"))}
ALIKE |= {f"{ROOT}{name}x": pages(*(name + other for other in "klmno")) for name in "abcdefgh"}
NEWS = {
    ROOT: [*pages("old"), Sighting(f"{ROOT}feed.xml", Kind.HUB)],
    f"{ROOT}feed.xml": pages("old", "new", "news"),
    f"{ROOT}new": [*resources("new.png"), *pages("unwanted")],
}


@dataclass
class Site:
    """What it answers and names, how it is captured; ``forgets``: what is not known again."""

    spec: dict[str, Any]
    links: Mapping[str, Sequence[Sighting]] = field(default_factory=lambda: LINKS)
    answer: Callable[[Fetch, float], Outcome] = answer
    forgets: tuple[str, ...] = ()
    terms: Terms | None = None
    most: int = 60  #: decisions that are looked at

    def frontier(self, store: MemoryStore) -> Frontier:
        return Frontier(Politeness(delay=0.0, attempts=1, apart=False), store, terms=self.terms)

    def named(self, fetch: Fetch) -> Sequence[Sighting]:
        """A hub names its news from its second poll on."""
        links = self.links.get(fetch.url, ())
        return links[:1] if fetch.kind is Kind.HUB and fetch.slot is Slot.FIRST and fetch.url != ROOT else links


SITES = {
    "in the order of discovery": Site({"strategy": "bfs"}),
    "in an order of its own": Site({}),
    "once": Site({"strategy": "bfs:revisits=none"}),
    "moved": Site({"strategy": "bfs"}, ELSEWHERE, moved),
    "on the server's word": Site(
        {"strategy": "bfs", "audit": 0.3}, {ROOT: pages(*map(str, range(9)))}, unmodified, ("owed to hosts", "owed")
    ),
    "bounded": Site({"strategy": "bfs", "max_requests": 14}),
    "kept up": Site(
        {"strategy": "bfs", "mode": "continuous", "lasts": 5.0},
        forgets=("owed to hosts", "owed", "next", "notes"),
        most=30,
    ),
    "in parts": Site({"subsites": "path"}, FOLDERS, unmodified, ("owed to hosts", "owed", "waiting")),
    "a trap": Site({"strategy": "bfs:revisits=none"}, ALIKE, alike),
    "news": Site(
        {"strategy": "bfs:revisits=none", "mode": "instant", "sitemaps": ()},
        NEWS,
        forgets=("strategy", "waiting", "next"),
        terms=Terms(every=5.0, duration=20.0),
    ),
}


class Copied(MemoryStore):
    """What another store holds; it is told nothing."""

    def __init__(self, store: MemoryStore) -> None:
        super().__init__()
        self.links = store.links

    def commit(self, batch: Batch) -> None:
        pass


def known(frontier: Frontier) -> dict[str, Any]:
    """All that a frontier knows and a store holds."""
    capture, pages, hosts = frontier.capture, frontier.pages, frontier.ledger.hosts
    polls, traps, rows = frontier.ledger.polls, capture.traps, range(len(pages))
    tasks = [(host.name, *task) for host in hosts for task in (host.robots, *host.urgent) if task]
    chosen = sum(len(host.held) for host in hosts)  # by a strategy, which will choose them again
    hubs = [row for row in rows if pages.kinds[row] is Kind.HUB] if polls else []
    return {
        "counts": {name: getattr(capture.counts, name) for name in capture.counts.__slots__},
        "pages": [(pages.states[row], pages.started[row], pages.rates[row], pages.remembered(row)) for row in rows],
        "hosts": [(one.name, one.has_pages, one.waits, one.read, one.missing, one.allows(f"{ROOT}5")) for one in hosts],
        "owed": (capture.owed.first, capture.owed.pending - chosen),
        "owed to hosts": sorted(tasks),
        "embedded": {row: found for row, found in capture.embedded._found.items() if pages.states[row] != State.JUDGED},
        "stands": (capture.phase, capture.reference, capture.turned, capture.mode.apex),
        "notes": capture.notes,
        "mode": (capture.mode.audit, capture.again, [capture.mode.left_open(row) for row in rows]),
        "strategy": capture.strategy is None,
        "waiting": sorted(capture.front.waiting),
        "moved": (capture.front.moved, capture.scope.why_not(f"{FAR}a")),
        "elsewhere": [] if capture.counts.visits else capture.front.elsewhere,
        "budget": (capture.budget.received, capture.budget.left, capture.budget.unproven, capture.budget.spare(0.0)),
        "traps": traps and (traps.errors.shown, (traps._echoes and traps._echoes.echoes) or {}, len(traps._shown)),
        "hubs": [(row, polls.last(row), polls.barren(row), polls.on_trial(row)) for row in hubs],
        "novelties": frontier.ledger.novelties,
    }


def asked(decision: object) -> object:
    if not isinstance(decision, Fetch):
        return decision
    return decision.page, decision.slot, decision.plan, decision.validators


@pytest.mark.parametrize(
    "site", [pytest.param(site, id=name, marks=[pytest.mark.slow] * (site.most < 60)) for name, site in SITES.items()]
)
def test_what_was_known_is_known_again_and_the_same_is_asked_for_next(site):
    store = MemoryStore()
    frontier, now = site.frontier(store), 1000.0
    frontier.open(CaptureSpec("a.example", (ROOT,), **site.spec), now)
    for _ in range(site.most):
        again = site.frontier(Copied(store))
        again.restore(store.load(), now)
        before, after = known(frontier), known(again)
        decision = frontier.next(now)
        before["next"], after["next"] = asked(decision), asked(again.next(now))
        for what in before.keys() - set(site.forgets):
            assert before[what] == after[what], what
        if isinstance(decision, Fetch):
            frontier.finished(decision, site.answer(decision, now), site.named(decision))
            now += 0.01
        elif isinstance(decision, Done):
            break
        else:
            now = decision.until
    assert frontier.done or site.most < 60
