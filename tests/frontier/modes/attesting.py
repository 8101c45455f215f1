"""A site whose every change is known, captured on the server's word: honest, lying, cut off anywhere."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.model import Done, Fetch, Hints, Kind, Outcome, Result, Sighting, Verdict
from sharc_crawler.rates.chain import Chain
from sharc_crawler.rates.constant import ConstantRates
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore

ROOT = "http://a.example/"
MAP = ROOT + "sitemap.xml"
START = 1_000_000.0
STEP = 5.0
TOOK = 0.2
SKEW = 3000.0  # the server's clock is ahead of ours


@dataclass
class Site:
    """Pages that change at known instants; of some, the lastmod stays what it was before the capture."""

    seed: int = 0
    pages: int = 30
    rate: float = 0.0
    liars: str = ""  # the folder whose lastmods lie
    precision: float = 1.0
    changes: dict[str, list[float]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rng = random.Random(self.seed)
        for number in range(self.pages):
            url = f"{ROOT}{'ab'[number % 2]}/{number}.html"
            times = [START - rng.uniform(500, 100_000)]
            while self.rate and times[-1] < START + 10_000:
                times.append(max(times[-1], START - 400.0) + rng.expovariate(self.rate * rng.choice([0.3, 1, 3])))
            self.changes[url] = times

    def last(self, url: str, now: float, honest: bool = False) -> float:
        at = START - 450.0 if self.liars and url.startswith(ROOT + self.liars) and not honest else now
        return max(t for t in self.changes[url] if t <= max(at, self.changes[url][0]))

    def still(self, url: str, one: float, other: float) -> bool:
        return not any(min(one, other) < t <= max(one, other) for t in self.changes[url])

    def sitemap(self, now: float) -> list[Sighting]:
        said = {url: (self.last(url, now) + SKEW) // self.precision * self.precision for url in self.changes}
        return [Sighting(url, via=MAP, hints=Hints(lastmod, self.precision)) for url, lastmod in said.items()]

    def answer(self, fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
        made = now + TOOK / 2
        clock = {"started": now, "ended": now + TOOK, "date": (made + SKEW) // 1}
        if fetch.kind is Kind.ROBOTS:
            return Outcome(Result.OK, status=200, robots=f"Sitemap: {MAP}", **clock), []
        if fetch.kind is Kind.SITEMAP:
            return Outcome(Result.OK, status=200, **clock), self.sitemap(made)
        if fetch.url == ROOT:
            return Outcome(Result.OK, status=200, digest="sha1:root", **clock), []
        digest = f"sha1:{self.last(fetch.url, made, honest=True)}"
        return Outcome(Result.OK, status=200, digest=digest, **clock), []


def capture(
    site: Site,
    visits: int = 1,
    audit: float = 0.1,
    cuts: tuple[int, ...] = (),
    store=None,
    rate: float = 0.0,
    hints: float = 0.1,
    **parts,
):
    """Crawl; after so many steps each time, cut off, half of the times with a fetch in flight, and gone on."""
    store = store or MemoryStore()
    politeness = Politeness(delay=STEP)
    parts = Parts(**({"rates": lambda _: Chain([ConstantRates(rate)])} if rate else {}), **parts)
    frontier = Frontier(politeness, store, parts)
    frontier.open(
        CaptureSpec("a", (ROOT,), f"sharc-attested:visits={visits}", audit=audit, lag=0.0, hints=hints), START
    )
    now = START
    for steps in (*cuts, 10_000):
        for made in range(steps):
            decision = frontier.next(now)
            if isinstance(decision, Done):
                return store.load()
            if isinstance(decision, Fetch):
                if made == steps - 1:
                    break
                frontier.finished(decision, *site.answer(decision, now))
            else:
                assert decision.until > now, "the frontier would spin"
                now = decision.until
        now += 1.0
        frontier = Frontier(politeness, store, parts)
        frontier.restore(store.load(), now)
    raise AssertionError("not done")


def check(site: Site, state, honest: bool = True) -> Counter:
    """No false claim of an honest site; the claims by verdict, evidence and truth."""
    (row,) = state.captures.values()
    T = row.reference
    looks = {}
    for visit in state.visits:
        if visit.finished and visit.outcome.result is Result.OK:
            looks.setdefault(visit.page, []).append(visit.outcome.started + TOOK / 2)
    found = Counter()
    for judgement in state.judgements:
        url = state.pages[judgement.page].url
        if url not in site.changes:
            continue
        true = any(site.still(url, look, T) for look in looks[judgement.page])
        found[judgement.verdict.value, judgement.evidence.value, true] += 1
        if judgement.verdict is Verdict.COHERENT and (honest or judgement.evidence is Evidence.BYTES):
            assert true, f"{url} {judgement}"
    return found
