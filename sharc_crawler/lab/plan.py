"""Forecasts a capture: its duration, and its expected coherence and blur."""

from __future__ import annotations

import gc
from dataclasses import dataclass

import numpy as np

from sharc_crawler.lab.belief import Belief
from sharc_crawler.lab.driver import LISTED, crawl
from sharc_crawler.lab.graph import EventGraph
from sharc_crawler.lab.prospect import Prospect
from sharc_crawler.lab.score import change_probabilities, score
from sharc_crawler.lab.site import Site
from sharc_crawler.lab.truth import Changes, Lives
from sharc_crawler.lab.web import Published
from sharc_crawler.model import Instant, Seconds
from sharc_crawler.state.spec import AUDIT
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.make import make_strategy

MANY = 1_000  #: pages from which on memory is freed at once


@dataclass(frozen=True, slots=True)
class Foreseen:
    """The forecast for a capture with one strategy."""

    strategy: str
    downloads: int  #: with sitemaps and audits, if the strategy relies on lastmods
    seconds: Seconds  #: from the first download to the last
    expected_coherent: float  #: pages
    expected_incoherent: float
    unknown: int  #: pages that the strategy does not revisit
    expected_blur: float  #: changes per page
    hopeless: tuple[str, ...]  #: pages given up in favour of the others
    hopeless_incoherent: float  #: expected number of incoherent pages among these


def foresee(prospect: Prospect, strategy: str, delay: Seconds, start: Instant) -> Foreseen:
    """Simulate a crawl of the pages, all known in advance, with one download per ``delay``.

    Nothing changes in it, so there are no downloads repeated because of the sitemap at T. For attested pages, the
    expected coherence is therefore a lower bound.
    """
    size = len(prospect.urls)
    nobody = np.zeros(size, np.bool_)
    attested = prospect.attested if make_strategy(strategy, Setting()).attests else nobody
    nothing = Changes.of([()] * size)
    site = Site(
        name=prospect.source,
        urls=prospect.urls,
        root=0,
        start=start,
        end=start + 2 * size * delay,
        graph=EventGraph({0: list(range(1, size))}),
        lives=Lives.forever(size),
        changes=nothing,
        past=nothing,
        created=np.full(size, start),
        rates=prospect.rates,
        step=delay,
    )
    belief = Belief(prospect.source, prospect.rates, prospect.shapes, prospect.rates, attested, again=False)
    published = Published(attested, nobody) if attested.any() else None
    done = crawl(site, belief, strategy, LISTED, published=published, audit=AUDIT, judged=False)
    if size > MANY:  # a frontier's objects form cycles, and would otherwise pile up over several forecasts
        gc.collect()
    found, risks = score(site, done.schedule, belief), change_probabilities(done.schedule, belief)
    return Foreseen(
        strategy=strategy,
        downloads=done.decisions,
        seconds=(done.decisions - 1) * delay,
        expected_coherent=size - found.unknown - found.expected_incoherent,
        expected_incoherent=found.expected_incoherent,
        unknown=found.unknown,
        expected_blur=found.expected_blur,
        hopeless=tuple(prospect.urls[page] for page in np.flatnonzero(done.hopeless)),
        hopeless_incoherent=float(risks[done.hopeless].sum()),
    )
