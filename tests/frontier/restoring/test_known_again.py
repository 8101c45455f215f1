"""A frontier that goes on knows what the one before it knew, wherever that was cut off, and asks for the same next."""

from __future__ import annotations

import re
from array import array
from dataclasses import dataclass, field
from email.utils import formatdate
from enum import Enum
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from sharc_crawler.frontier import restoring
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.model import Done, Fetch, Hints, Kind, Outcome, Phase, Result, Sighting, Slot, Validators
from sharc_crawler.polling.terms import Terms
from sharc_crawler.state.lifecycle import State
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.traps.probing import looked_at

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from sharc_crawler.state.rows import Batch

ROOT, FAR = "http://a.example/", "http://cdn.example/"
ROBOTS = f"User-agent: *\nDisallow: /5\nCrawl-delay: 0\nSitemap: {ROOT}map.xml\n"


def pages(*paths: str) -> list[Sighting]:
    return [Sighting(ROOT + path) for path in paths]


def resources(*urls: str) -> list[Sighting]:
    return [Sighting(url if "://" in url else ROOT + url, Kind.RESOURCE) for url in urls]


def answer(fetch: Fetch, now: float) -> Outcome:
    """``/1`` has moved, ``/2`` is gone, ``/5`` is forbidden, ``/4`` changes; the other host's robots.txt fails."""
    if fetch.url == f"{FAR}robots.txt":
        return Outcome(Result.FAILED, now, now + 0.01, 500)
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


def unsteady(fetch: Fetch, now: float) -> Outcome:
    """What is looked at again was not made on request, or is gone by then."""
    found = answer(fetch, now)
    if fetch.url == f"{ROOT}3" and now > 1001.5:
        return Outcome(Result.GONE, now, now + 0.01, 404)
    made = formatdate(now if fetch.url == f"{ROOT}0" else 500.0, usegmt=True)
    return found._replace(validators=Validators(None, made), date=now) if found.result is Result.OK else found


def failing(fetch: Fetch, now: float) -> Outcome:
    """A robots.txt that cannot be had once it was read."""
    late = fetch.kind is Kind.ROBOTS and now > 80_000.0
    return Outcome(Result.FAILED, now, now + 0.01, 500) if late else answer(fetch, now)


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
FOLDERS[ROOT] += pages("2")
DATED = {f"{ROOT}map.xml": [Sighting(f"{ROOT}{at}", hints=Hints(lastmod=500.0 + at)) for at in range(9)]}
ALIKE = {ROOT: pages(*(f"{name}x" for name in "abcdefgh"))}
ALIKE |= {f"{ROOT}{name}x": pages(*(name + other for other in "klmno")) for name in "abcdefgh"}
NEWS = {
    ROOT: [*pages("old"), Sighting(f"{ROOT}feed.xml", Kind.HUB)],
    f"{ROOT}feed.xml": pages("older", "old", "new", "news"),
    f"{ROOT}new": [*resources("new.png"), *pages("unwanted")],
}


@dataclass
class Site:
    """What it answers and names, how it is captured; ``forgets``: what is not known again."""

    spec: dict[str, Any]
    links: Mapping[str, Sequence[Sighting]] = field(default_factory=lambda: LINKS)
    answer: Callable[[Fetch, float], Outcome] = answer
    forgets: str = ""
    terms: Terms | None = None
    beside: Sequence[Sighting] = ()  #: what no page names
    delay: float = 0.0

    def frontier(self, store: MemoryStore) -> Frontier:
        return Frontier(Politeness(delay=self.delay, attempts=1, apart=False), store, terms=self.terms)

    def named(self, fetch: Fetch) -> Sequence[Sighting]:
        """A hub names its news from its second poll on."""
        links = self.links.get(looked_at(fetch.url) or fetch.url, ())
        return links[:1] if fetch.kind is Kind.HUB and fetch.slot is Slot.FIRST and fetch.url != ROOT else links


SITES = {
    "in the order of discovery": Site({"strategy": "bfs"}),
    "beside pages": Site(
        {"sitemaps": ()},
        ELSEWHERE,
        forgets=r"next|strategy|front\.waiting",
        beside=resources("http://fonts.example/a.woff"),
    ),
    "in an order of its own": Site({}),
    "once": Site({"strategy": "bfs:revisits=none"}),
    "moved": Site({"strategy": "bfs"}, ELSEWHERE, moved),
    "on the server's word": Site(
        {"strategy": "bfs", "audit": 0.3}, {ROOT: pages(*map(str, range(9)))}, unmodified, "owed.*"
    ),
    "dated": Site(
        {"strategy": "sharc-attested"},
        DATED,
        unmodified,
        r"owed.*|mode\._.*|mode\.attestations\._?(strata(\._.*)?|audited|named|could(\._.*)?)|next",
    ),
    "for days": Site({"strategy": "bfs:revisits=none"}, answer=failing, forgets="next|owed.*", delay=30_000.0),
    "bounded": Site({"strategy": "bfs", "max_requests": 14}),
    "kept up": Site(
        {"strategy": "bfs", "mode": "continuous", "lasts": 3.0, "sitemaps": ()},
        {ROOT: pages("0", "3")},
        unsteady,
        r"owed.*|next|notes|traps\.copies.*",
    ),
    "in parts": Site({"subsites": "path"}, FOLDERS, unmodified, r"owed.*|front\.waiting|mode\.(pool|apex)"),
    "a trap": Site({"strategy": "bfs:revisits=none"}, ALIKE, alike),
    "news": Site(
        {"strategy": "bfs:revisits=none", "mode": "instant", "sitemaps": ()},
        NEWS,
        forgets=r"strategy|front\.waiting|next|mode\.(_dating\._url|_named)",
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


#: of a capture's state what no store holds: what concerns one process alone, what is found again when it is asked for
PASSING = re.compile(
    r"former|interruptions|counts\.dropped|budget\.paused|front\.elsewhere|left_out\.reasons|embedded\._found|owed\.pending|doubted.*"
    r"|mode\.called|mode\._(hints\.answer|answer|first|listing|shown|polls.*|due|every|planned|last|news|division)"
    r"|traps\.(bottomless.*|recombined.*|deepest|twice|fleeting\._(echoes|errors).*|alone|wanted|unlike|copies\.(_former|barren\._marks)"
    r"|(suspicion\.)?words\._known)"
)
APART = {
    "pages",
    "_pages",
    "_ledger",
    "_capture",
    "_shared",
    "spec",
    "rates",
    "scope",
    "strategy",
    "swings",
    "_tests",
    "_traps",
}


def is_ours(thing: object) -> bool:
    return type(thing).__module__.startswith("sharc_crawler.") and not isinstance(thing, tuple | Enum)


def state_of(thing: object, name: str = "") -> Iterator[tuple[str, object]]:
    """All that an object of ours is made of, by name; an array's numbers in words, since no NaN is another."""
    parts: dict[Any, Any] = {}
    if is_ours(thing):
        names = [*getattr(thing, "__dict__", ()), *getattr(type(thing), "__slots__", ())]
        parts = {one: getattr(thing, one) for one in names if one not in APART and hasattr(thing, one)}
    elif isinstance(thing, dict) and any(map(is_ours, thing.values())):
        parts = thing
    if not parts and not is_ours(thing) and not callable(thing):
        yield name.removeprefix("."), list(map(str, thing)) if isinstance(thing, array | np.ndarray) else thing
    for one, part in parts.items():
        yield from state_of(part, f"{name}.{one}")


def known(frontier: Frontier) -> dict[str, Any]:
    """All that a frontier knows and a store holds."""
    capture, pages, hosts = frontier.capture, frontier.pages, frontier.ledger.hosts
    polls, all_, rows = frontier.ledger.polls, frontier.polls, range(len(pages))
    tasks = [
        (host.name, *task)
        for host in hosts
        for task in (host.robots, *host.urgent, *(late for *_, late in host.retries))
        if task
    ]
    chosen = sum(len(host.held) for host in hosts)  # by a strategy, which will choose them again
    hubs = [row for row in rows if pages.kinds[row] is Kind.HUB] if polls else []
    if capture.traps and capture.traps.words:
        capture.traps.words.learn()  # what is noted alone
    found = {name: value for name, value in state_of(capture) if value and not PASSING.fullmatch(name)}
    return found | {
        "pages": [(pages.states[row], pages.started[row], pages.rates[row], pages.remembered(row)) for row in rows],
        "hosts": [(one.name, one.has_pages, one.waits, one.read, one.missing, one.allows(f"{ROOT}5")) for one in hosts],
        "owed": capture.owed.pending - chosen,
        "owed to hosts": sorted(tasks),
        "embedded": {row: some for row, some in capture.embedded._found.items() if pages.states[row] != State.JUDGED},
        "strategy": capture.strategy is None,
        "scope": capture.scope.why_not(f"{FAR}a"),
        "elsewhere": [] if capture.counts.visits else capture.front.elsewhere,
        "row": capture.traps and capture.phase is Phase.VISIT and dict(state_of(capture.traps.bottomless)),
        "twice": capture.traps and capture.phase is Phase.VISIT and capture.traps.twice,
        "left open": [row for row in rows if capture.mode.left_open(row)],
        "room": capture.budget.spare(0.0),
        "hubs": [(row, polls.last(row), polls.barren(row), polls.on_trial(row)) for row in hubs],
        "novelties": frontier.ledger.novelties,
        "polls": all_ and (all_.ends - capture.budget.paused, all_.made, all_.found),
    }


def asked(decision: object) -> object:
    if not isinstance(decision, Fetch):
        return decision
    return decision.page, decision.slot, decision.plan, decision.validators


@pytest.mark.parametrize("site", SITES.values(), ids=SITES)
def test_what_was_known_is_known_again_and_the_same_is_asked_for_next(site):
    store = MemoryStore()
    frontier, now = site.frontier(store), 1000.0
    frontier.open(CaptureSpec("a.example", (ROOT,), **site.spec), now)
    frontier.schedule(site.beside, now)
    for _ in range(60):
        again = site.frontier(Copied(store))
        again.restore(store.load(), now)
        before, after = known(frontier), known(again)
        decision = frontier.next(now)
        before["next"], after["next"] = asked(decision), asked(again.next(now))
        for what in before.keys() | after.keys():
            assert before.get(what) == after.get(what) or re.fullmatch(site.forgets, what), what
        if isinstance(decision, Fetch):
            frontier.finished(decision, site.answer(decision, now), site.named(decision))
            now += 0.01
        elif isinstance(decision, Done):
            break
        else:
            now = decision.until
    assert frontier.done


def test_rules_against_traps_are_told_of_many_visits_at_once_and_of_all(monkeypatch):
    site, store, now = SITES["once"], MemoryStore(), 1000.0
    frontier, whole, parts = (site.frontier(one) for one in (store, Copied(store), Copied(store)))
    frontier.open(CaptureSpec("a.example", (ROOT,), **site.spec), now)
    while not isinstance(decision := frontier.next(now), Done):
        assert isinstance(decision, Fetch)
        frontier.finished(decision, site.answer(decision, now), site.named(decision))
        now += 0.01
    whole.restore(store.load(), now)
    monkeypatch.setattr(restoring, "AT_ONCE", 2)
    parts.restore(store.load(), now)
    assert known(parts) == known(whole)
