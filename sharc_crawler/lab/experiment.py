"""Experiments: simulated crawls by site, strategy and evidence, with their results."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.audit import Sampled, Stratum, bound, sample, strata
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.truth import unchanged
from sharc_crawler.lab.belief import Belief
from sharc_crawler.lab.driver import VirtualCrawl, begins, crawl
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.lab.rates import believe
from sharc_crawler.lab.schedule import DownloadTimes
from sharc_crawler.lab.score import Judged, PageFate, score, stayed, verdicts
from sharc_crawler.lab.site import Site
from sharc_crawler.lab.synthetic import SyntheticSpec
from sharc_crawler.lab.web import Published
from sharc_crawler.model import Instant, Judgement, Verdict
from sharc_crawler.state.spec import HINTS
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.make import make_strategy
from sharc_crawler.subsites.make import make_division

SiteSpec = SyntheticSpec | HistorySpec
Facts = dict[str, Any]  #: results, as ``sharc simulate --json`` prints them


@dataclass(frozen=True, slots=True)
class RunSpec:
    """The parameters of one simulated crawl."""

    site: SiteSpec
    strategy: str
    rates: str = "oracle"
    graph: str = "discover"
    seed: int = 0  #: for drawing the pages whose lastmod is trusted, and those that lie
    attested: float = 0.0  #: share of pages whose lastmod is trusted
    lying: float = 0.0  #: share of the trusted pages whose lastmod never changes
    sitemap: bool = False  #: whether a sitemap lists the trusted pages (or all, if none is trusted) with lastmods
    feed: int = 0  #: length of a feed with the changes and their times; 0: there is none
    listing: int = 0  #: length of a page that lists recent changes without times; 0: there is none
    late: float = 0.0  #: seconds between a change and its appearance in sitemap, feed and listing
    hints: float = HINTS  #: greatest share of the slots for visiting changed pages again before T
    skip: str = "off"  #: ``attested``: no request for pages that are unchanged in the archive by the sitemap's word
    subsites: str = ""  #: how the site is divided, to be captured part by part; empty: it is not
    audited: float = 0.02  #: share of the attested pages that is audited by comparing bytes

    def __post_init__(self) -> None:
        if not self.late >= 0:
            raise UsageError(f"late={self.late} is not possible: a sitemap tells of no change before it is made")
        for name in ("attested", "lying", "audited", "hints"):
            if not 0 <= getattr(self, name) <= 1:
                raise UsageError(f"{name}={getattr(self, name)} is not possible: it is a share between 0 and 1")
        if self.skip not in ("off", "attested"):
            raise UsageError(f"skip={self.skip!r} is not known: off, or attested")
        if self.lying and not (self.attested or self.sitemap):
            raise UsageError(
                f"lying={self.lying} is a share of the attested pages, of which there are none: add attested"
                "=SHARE, or sitemap=1"
            )
        if self.late and not (self.attested or self.sitemap or self.feed or self.listing):
            raise UsageError(
                f"late={self.late} is of what tells of changes, and nothing does: add sitemap=1, feed=N or listing=N"
            )


@dataclass(frozen=True, slots=True)
class ScoredCrawl:
    """A simulated crawl with its results."""

    spec: RunSpec
    facts: Facts
    schedule: DownloadTimes


@lru_cache(maxsize=2)
def build(spec: SiteSpec) -> Site:
    """The site of a spec, cached for the next run on it."""
    return spec.build()


def run(spec: RunSpec, tell: Callable[[float], None] = lambda _: None) -> ScoredCrawl:
    """Simulate a crawl; ``tell`` is called from time to time with the share that is done."""
    site = build(spec.site)
    attested = _rng(spec, "attested").random(len(site.urls)) < spec.attested
    begin = begins(site, spec.strategy, attested)
    belief = replace(_believed(spec.site, spec.rates, begin), attested=attested)
    if spec.skip != "off" and belief.seen is None:
        none = f"rates={spec.rates!r} has none; give --rates captures"
        raise UsageError(f"skip={spec.skip!r} needs an archive of the pages: {none}")
    began = time.perf_counter()
    told = spec.sitemap or _attests(spec) or spec.feed or spec.listing
    published = _published(spec, belief) if told else None
    done = crawl(
        site, belief, spec.strategy, spec.graph, tell, published, spec.audited, spec.subsites, spec.hints, spec.skip
    )
    seconds = time.perf_counter() - began
    held = replace(belief, attested=done.attested) if published else belief
    fates = verdicts(site, done.schedule, held.attested, done.judged)
    found = {
        **_scored(spec, held, done.schedule, done.judged),
        "hopeless": int(done.hopeless.sum()),
        "hopeless_incoherent": int((fates[done.hopeless] == PageFate.CHANGED).sum()),
        "downloads": done.decisions,
        "step": done.step,
        "seconds": seconds,
        **_judged(site.as_of(begin), done, belief.seen),
        **_parts(site, done, spec.subsites),
    }
    return ScoredCrawl(spec, found, done.schedule)


def _parts(site: Site, done: VirtualCrawl, subsites: str) -> Facts:
    """Figures of the parts in which a site was captured, and of those that are coherent."""
    if done.members is None:
        return {}
    least = make_division(subsites).share
    found = verdicts(site, done.schedule, np.zeros(len(site.urls), np.bool_))
    shares = []
    for part in done.parts:
        own = np.array([page for page, number in done.members.items() if number == part.number])
        captured = own[found[own] != PageFate.ABSENT]
        coherent = int((found[captured] == PageFate.COHERENT).sum())
        shares.append((len(captured), coherent / max(1, len(captured))))
    together = [pages for pages, share in shares if share >= least]
    return {
        "subsites": subsites,
        "parts": len(shares),
        "coherent_parts": len(together),
        "in_coherent_parts": sum(together),
        "largest_coherent_part": max(together, default=0),
    }


def _attests(spec: RunSpec) -> bool:
    """Whether the strategy takes lastmods as evidence, from a sitemap read at the start, at T and at the end."""
    return spec.attested > 0 and make_strategy(spec.strategy, Setting()).attests


def _published(spec: RunSpec, belief: Belief) -> Published:
    """What the site publishes: a sitemap of the trusted pages, or else of all; some of them lie."""
    listed = belief.attested if belief.attested.any() else np.ones(len(belief.rates), np.bool_)
    sitemap = spec.sitemap or _attests(spec)
    return Published(listed, _lying(spec, listed), spec.late, sitemap, spec.feed, spec.listing)


def _lying(spec: RunSpec, listed: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return listed & (_rng(spec, "lying").random(len(listed)) < spec.lying)


def _judged(site: Site, done: VirtualCrawl, seen: float | None) -> Facts:
    """The frontier's judgements, and how often it called a page coherent that no download shows as it was at T."""
    if done.judged is None or done.reference is None:
        return {}
    T = np.full(len(site.urls), done.reference)
    visits = done.schedule.visits
    if done.taken is not None and seen is not None:  # a copy outdated before the capture began shows nothing
        outdated = np.array([bool(len(row)) and row[-1] > seen for row in site.past.rows])
        visits = np.where(done.taken & outdated, np.nan, visits)
    true = np.logical_or.reduce(
        [
            ~np.isnan(times) & unchanged(site.changes.rows, np.minimum(times, T), np.maximum(times, T))
            for times in (visits, done.schedule.revisits, done.audits)
        ]
    )
    confirmed = done.confirmed or done.judged
    for_good = {page: one for page, one in confirmed.items() if one.evidence is not Evidence.PROVISIONAL}
    return {
        "judged": _counts(done.judged),
        "wrongly_coherent": _wrong(done.judged, true),
        "confirmed": _counts(confirmed),
        "wrongly_confirmed": _wrong(for_good, true),
        "audited": done.audit,
        **({"not_asked": int(done.taken.sum())} if done.taken is not None else {}),
    }


def _counts(judged: Mapping[int, Judgement]) -> dict[str, int]:
    """Numbers of pages by verdict and evidence."""
    return dict(sorted(Counter(f"{one.verdict}, {one.evidence}" for one in judged.values()).items()))


def _wrong(judged: Mapping[int, Judgement], true: NDArray[np.bool_]) -> int:
    """The number of pages judged coherent whose state at T no download shows."""
    return sum(one.verdict is Verdict.COHERENT and not true[page] for page, one in judged.items())


def _scored(spec: RunSpec, belief: Belief, schedule: DownloadTimes, judged: Judged | None) -> Facts:
    site = build(spec.site)
    found: Facts = {
        "strategy": spec.strategy,
        "rates": spec.rates,
        "graph": spec.graph,
        "seed": spec.seed,
        "revisits": schedule.order,
        "guessed": belief.guessed,
        "evidence": "attested" if belief.attested.any() else "bytes",
        "reference": schedule.reference,
        **asdict(score(site, schedule, belief, judged)),
    }
    if spec.lying and judged is None:
        lying = _lying(spec, belief.attested)
        found["audit"] = asdict(audit(site, schedule, belief, lying, spec.audited, spec.seed))
    return found


@lru_cache(maxsize=2)
def _believed(site: SiteSpec, source: str, begin: Instant) -> Belief:
    return believe(build(site), source, begin)


def _rng(spec: RunSpec, what: str) -> np.random.Generator:
    """A generator that draws the same pages for every strategy."""
    return np.random.default_rng([spec.seed, *what.encode()])


def facts(spec: RunSpec, tell: Callable[[float], None]) -> Facts:
    """The facts of one simulated crawl, without its schedule."""
    return run(spec, tell).facts


def seeded(spec: SiteSpec, seed: int) -> SiteSpec:
    """A synthetic site with another seed; a history is returned unchanged."""
    return replace(spec, seed=seed) if isinstance(spec, SyntheticSpec) else spec


def summary(spec: SiteSpec, runs: Sequence[Facts]) -> Facts:
    """The object that ``sharc simulate --json`` prints."""
    site = build(spec)
    return {
        "site": site.name,
        "pages": len(site.known),
        "window": [site.start, site.end],
        "runs": list(runs),
    }


# -- an audit by bytes of pages whose lastmod was trusted: its findings, and the remaining wrong claims ----------------

# A lying page is one whose lastmod never changes. The audit (:mod:`sharc_crawler.evidence.audit`) downloads a share of
# the attested pages again at the end of the capture.


@dataclass(frozen=True, slots=True)
class Audit:
    """The findings of a simulated audit, in numbers of pages."""

    lying: int  #: captured pages whose lastmod lies
    wrongly_claimed: int  #: called coherent because of a false lastmod
    audited: int
    changed: int  #: audited pages whose bytes changed since their visit
    lies_found: int
    remaining: int  #: wrongly claimed pages in strata where no lie was found
    bound: int  #: upper bound of ``remaining`` with 95 % confidence


def audit(
    site: Site, schedule: DownloadTimes, belief: Belief, lying: NDArray[np.bool_], share: float, seed: int
) -> Audit:
    """Audit a share of the captured attested pages; in strata with a lie that was found, claims are withdrawn."""
    captured = belief.attested & site.lives.alive_at(schedule.visits)
    wrong = captured & lying & ~stayed(site, schedule, belief.attested)
    labels = strata({page: site.urls[page] for page in np.flatnonzero(captured).tolist()})
    drawn = np.zeros(len(captured), np.bool_)
    drawn[list(sample(labels, share, seed))] = True
    end = np.full(len(site.urls), schedule.interval[1])
    visible = captured & ~unchanged(site.changes.rows, schedule.visits, end)
    caught = {labels[page] for page in np.flatnonzero(drawn & visible & lying).tolist()}
    claimed = captured & stayed(site, schedule, belief.attested) | wrong
    claimed &= np.array([labels.get(page) not in caught for page in range(len(captured))])
    confirmed = claimed & drawn & ~visible & (schedule.visits <= schedule.reference)
    left = claimed & ~confirmed
    numbers = Counter(labels[page] for page in np.flatnonzero(left).tolist())
    shown = Counter(labels[page] for page in np.flatnonzero(confirmed).tolist())
    return Audit(
        lying=int((captured & lying).sum()),
        wrongly_claimed=int(wrong.sum()),
        audited=int(drawn.sum()),
        changed=int((drawn & visible).sum()),
        lies_found=int((drawn & visible & lying).sum()),
        remaining=int((left & wrong).sum()),
        bound=bound(Sampled([Stratum(numbers[label], shown[label]) for label in numbers], len(caught))),
    )
