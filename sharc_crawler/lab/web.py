"""A simulated site as the frontier meets it: links and outcomes."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from email.utils import formatdate
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from sharc_crawler.model import NO_VALIDATORS, Hints, Outcome, Result, Sighting, Validators

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sharc_crawler.lab.site import Site
    from sharc_crawler.model import Instant, Seconds


SITEMAP = "sitemap"  #: its URL
RARELY = 1e-8  #: changes per second, at least, of pages whose past is made up


@dataclass(frozen=True, slots=True)
class Published:
    """Which pages a site's sitemap lists with their lastmod, and whose lastmod never moves."""

    listed: NDArray[np.bool_]
    lying: NDArray[np.bool_]
    late: Seconds = 0.0  #: after a change the sitemap tells of it


class EveryLink:
    """The scope of a simulated capture: every page that a link names."""

    def why_not(self, url: str) -> str | None:  # noqa: ARG002 - the port's signature
        """Nothing is against it."""
        return None

    def widened(self, seed: str) -> EveryLink:  # noqa: ARG002
        """The same."""
        return self


class Web:
    """The site as the frontier meets it: sightings in, outcomes and links out."""

    def __init__(self, site: Site, frozen: bool, published: Published | None = None, dated: bool = False) -> None:
        self._site = site
        self._dated = dated  # what is known at the start was read from a sitemap
        self._published = published
        self._frozen = frozen  # links are those of the start
        self._sightings: list[Sighting | None] = [None] * len(site.urls)

    def seeds(self, pages: Sequence[int], now: Instant) -> list[Sighting]:
        """Pages known when the capture begins, with their last changes where a sitemap of then tells of them."""
        if not self._dated:
            return self.sightings(pages)
        made = now - (self._published.late if self._published is not None else 0.0)
        return [Sighting(self._site.urls[page], hints=Hints(self._last_change(page, made))) for page in pages]

    def sightings(self, pages: Sequence[int]) -> list[Sighting]:
        """Links to pages; each object is made once."""
        made = self._sightings
        for page in pages:
            if made[page] is None:
                made[page] = Sighting(self._site.urls[page])
        return [made[page] for page in pages]  # type: ignore[misc]

    def download(self, page: int, now: Instant, step: Seconds) -> Outcome:
        """What a request at ``now`` brings."""
        if not self._site.lives.alive(page, now):
            return Outcome(Result.GONE, now, now + step, 404)
        version = str(self._site.changes.version(page, now))
        modified = Validators(None, formatdate(self._last_change(page, now), usegmt=True)) if self._says(page) else None
        return Outcome(Result.OK, now, now + step, 200, version, validators=modified or NO_VALIDATORS, date=now + step)

    def _says(self, page: int) -> bool:
        """Does the server send Last-Modified with the page?"""
        return self._published is not None and bool(self._published.listed[page])

    def _last_change(self, page: int, now: Instant) -> Instant:
        """As the server has it: a liar's stands still."""
        site, published = self._site, self._published
        until = site.start if published is not None and published.lying[page] else now
        done = bisect_right(site.changes.rows[page], until)
        return float(site.changes.rows[page][done - 1] if done else self._begun[page])

    @cached_property
    def _begun(self) -> NDArray[np.float64]:
        """The last change of each page before the window, or its creation; where no past is known, one by its rate."""
        site = self._site
        begun = site.past.latest(site.created)
        if len(site.past):
            return begun
        ages = np.random.default_rng(len(begun)).standard_exponential(len(begun)) / np.maximum(site.rates, RARELY)
        return np.minimum(begun, site.start) - ages

    def sitemap(self, now: Instant) -> list[Sighting]:
        """The sitemap of ``now``: all listed pages that are there, and when they last changed, to the second.

        Where the graph of the start is frozen, there are no others than those reachable then.
        """
        assert self._published is not None, "there is a sitemap"
        site, listed = self._site, self._published.listed
        there = site.known if self._frozen else range(len(site.urls))
        pages = [page for page in there if listed[page] and site.lives.alive(page, now)]
        made = now - self._published.late
        words = [Hints(self._last_change(page, made) // 1, 1.0) for page in pages]
        return [Sighting(site.urls[page], via=SITEMAP, hints=hints) for page, hints in zip(pages, words, strict=True)]

    def links(self, page: int, now: Instant) -> list[Sighting]:
        """What the page of ``now`` links to; where the graph of the start is frozen, it holds even for pages gone."""
        site, alive = self._site, self._site.lives.alive
        if self._frozen:
            return self.sightings([p for p in site.graph.links(page, site.start) if alive(p, site.start)])
        return self.sightings(site.graph.links(page, now)) if alive(page, now) else []
