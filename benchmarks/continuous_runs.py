"""A site that is kept up, beside periodic captures, in virtual time: what an archive shows at any instant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.lab.driver import Simulation

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sharc_crawler.frontier.capture import SiteCapture
    from sharc_crawler.lab.belief import Belief
    from sharc_crawler.lab.site import Site
    from sharc_crawler.lab.web import Web
    from sharc_crawler.model import Fetch, Instant, Seconds
    from sharc_crawler.state.spec import CaptureSpec

    Downloads = list[tuple[int, "Instant"]]  #: page and time


class _Logged(Simulation):
    """A capture that begins at an instant; all of its downloads are kept."""

    def __init__(self, site: Site, belief: Belief, strategy: str, delay: Seconds, at: Instant) -> None:
        super().__init__(site, belief, strategy, delay)
        self._begin = at
        self.made: Downloads = []

    def _download(self, fetch: Fetch, web: Web, capture: SiteCapture) -> None:
        self.made.append((self.site.numbers[fetch.url], fetch.decided))
        super()._download(fetch, web, capture)


class _Upkept(_Logged):
    """A capture that goes on until its window ends."""

    def __init__(self, site: Site, belief: Belief, delay: Seconds, lasts: Seconds, looks: float, upkeep: str) -> None:
        self._order = {"mode": "continuous", "lasts": lasts, "looks": looks, "upkeep": upkeep}
        super().__init__(site, belief, "sharc-selective", delay, site.start)

    def _spec(self, size: int, *, discover: bool) -> CaptureSpec:
        return replace(super()._spec(size, discover=discover), **self._order)  # type: ignore[arg-type]


def periodic(site: Site, belief: Belief, strategy: str, delay: Seconds, times: int) -> Downloads:
    """The downloads of so many captures of the pages known at the start, at even intervals until the window ends."""
    last = site.end - 2 * len(site.known) * delay
    made: Downloads = []
    for at in np.linspace(site.start, last, times):
        capture = _Logged(site, belief, strategy, delay, float(at))
        capture.run("known")
        made += capture.made
    return made


def upkept(site: Site, belief: Belief, upkeep: str, delay: Seconds, requests: int) -> Downloads:
    """A capture over the whole window, with so many requests in all."""
    phase = len(site.known) * delay
    lasts = site.end - site.start - phase
    looks = (requests - 2 * len(site.known)) / (lasts - phase)
    capture = _Upkept(site, belief, delay, lasts, 3600 * looks, upkeep)
    capture.run("known")
    return capture.made


@dataclass(frozen=True, slots=True)
class ArchiveQuality:
    """What an archive shows, on average over some instants."""

    coherent: float  #: share of the pages whose downloads before and after the instant show the same
    blur: float  #: changes, per page, between the instant and the download that is nearest to it


def shown(site: Site, made: Downloads, instants: Sequence[Instant]) -> ArchiveQuality:
    """How good the archive is of pages known when the window begins; a page that goes, or comes back, changes."""
    pages, times = np.array([page for page, _ in made]), np.array([time for _, time in made])
    found = [_page(_events(site, page), np.sort(times[pages == page]), np.array(instants)) for page in site.known]
    coherent, blur = np.mean(found, axis=0)
    return ArchiveQuality(float(coherent), float(blur))


def _events(site: Site, page: int) -> NDArray[np.float64]:
    found: NDArray[np.float64] = np.unique(np.concatenate([site.changes.rows[page], site.lives.turns.get(page, ())]))
    finite: NDArray[np.float64] = found[np.isfinite(found)]
    return finite


def _page(events: NDArray[np.float64], times: NDArray[np.float64], at: NDArray[np.float64]) -> tuple[float, float]:
    """Share of the instants at which it is coherent, and its mean blur."""
    if not len(times):
        return 0.0, float(len(events))
    after = np.searchsorted(times, at)
    inside = (after > 0) & (after < len(times))
    left, right = times[np.maximum(after - 1, 0)], times[np.minimum(after, len(times) - 1)]
    versions = [np.searchsorted(events, when, "right") for when in (left, at, right)]
    nearest = np.where(np.abs(at - left) <= np.abs(right - at), versions[0], versions[2])
    return float((inside & (versions[0] == versions[2])).mean()), float(np.abs(versions[1] - nearest).mean())
