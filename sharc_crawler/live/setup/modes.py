"""| ``-a mode=continuous`` and ``-a mode=instant``: their specs, and what a person reads of them."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.modes.continuous import Continuously
from sharc_crawler.plural import counted
from sharc_crawler.strategies.upkeep import LEAST, make_upkeep

if TYPE_CHECKING:
    from sharc_crawler.frontier.sites import Sites
    from sharc_crawler.model import Instant
    from sharc_crawler.options.table import Options
    from sharc_crawler.polling.polls import Polls
    from sharc_crawler.polling.terms import Terms
    from sharc_crawler.state.spec import CaptureSpec


def kept_up(options: Options) -> dict[str, object]:
    """The terms of a continuous capture; raises UsageError if some are missing."""
    for name, value in (("for", options.for_), ("requests", options.requests)):
        if value == math.inf:
            raise UsageError(f"mode='continuous' needs {name}=, as in -a mode=continuous -a for=30d -a requests=60")
    make_upkeep(options.upkeep)(np.array([LEAST]), 1.0)  # an error shows before the first request
    if options.browser != "never":
        raise UsageError(f"browser={options.browser!r} is for whole captures, not for mode=continuous: leave it out")
    return {"mode": "continuous", "lasts": options.for_, "looks": options.requests, "upkeep": options.upkeep}


ORDER = "bfs:revisits=none"  #: new pages are visited once, the first found first


def as_instant(spec: CaptureSpec, terms: Terms) -> CaptureSpec:
    """The spec of an instant crawl of the same seeds."""
    stated = {"every": terms.every, "for": _finite(terms.duration), "requests": _finite(terms.requests)}
    return replace(spec, mode="instant", strategy=ORDER, settings={**spec.settings, **stated})


def _finite(value: float) -> float | None:
    return value if value < math.inf else None


def mode_progress(sites: Sites, now: Instant) -> str:
    """The progress line of either mode."""
    if sites.polls:
        return progress(sites.polls, now)
    captures = [one.capture for one in sites]
    kept = [mode for mode in (one.mode for one in captures) if isinstance(mode, Continuously) and mode.called]
    if not kept:
        return f"reading robots.txt and sitemaps: {counted(sum(one.counts.pages for one in captures), 'page')} so far"
    left = timedelta(seconds=round(max(0.0, max(mode.ends for mode in kept) - now)))
    pages = counted(sum(one.counts.captured for one in captures), "page")
    return f"kept up: {pages}, {counted(sum(mode.looks for mode in kept), 'look')}, {left} left"


def progress(polls: Polls, now: Instant) -> str:
    """The progress line of an instant crawl.

    >>> from sharc_crawler.polling.polls import Polls
    >>> from sharc_crawler.polling.terms import Terms
    >>> polls = Polls(Terms(duration=3600)); polls.begin(0.0); polls.add(0, 0, 0)
    >>> progress(polls, 600.0)
    'instant: 1 hub, 0 polls, 0 new pages, 0:50:00 left'
    """
    left = f"{timedelta(seconds=round(max(0.0, polls.ends - now)))} left" if polls.ends < math.inf else "until stopped"
    return f"instant: {done(polls)}, {left}"


def done(polls: Polls) -> str:
    """How far an instant crawl is."""
    return ", ".join((counted(len(polls), "hub"), counted(polls.made, "poll"), counted(polls.found, "new page")))


def describe(terms: Terms) -> str:
    """The plan, in one sentence."""
    length = f"for {timedelta(seconds=round(terms.duration))}" if terms.duration < math.inf else "until stopped"
    budget = f"at most {terms.requests:,.0f} requests an hour" if terms.requests < math.inf else "no request budget"
    return (
        f"Instant crawl {length}: hubs polled every {terms.every:g} s on average"
        f" ({terms.shortest:g} to {terms.longest:g} s, by what they bring), {budget}."
    )
