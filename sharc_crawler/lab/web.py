"""A simulated site as a server: the links and outcomes that the frontier gets."""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from email.utils import formatdate
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.lab.site import Site
from sharc_crawler.model import NO_VALIDATORS, Hints, Instant, Kind, Outcome, Result, Seconds, Sighting, Validators

SITEMAP, FEED, LISTING = "sitemap", "feed", "recent-changes"  #: URLs
MANY = 5_000  #: number of links on a page from which on their sightings are not cached
PER_SITEMAP = 10_000  #: pages per file of the sitemap; 50,000 are allowed
RARELY = 1e-8  #: least rate, in changes per second, for making up the past of pages


@dataclass(frozen=True, slots=True)
class Published:
    """What a site publishes of its changes."""

    listed: NDArray[np.bool_]  #: pages that the sitemap lists with their lastmod
    lying: NDArray[np.bool_]  #: pages whose lastmod never changes
    late: Seconds = 0.0  #: time between a change and its appearance in sitemap, feed and listing
    sitemap: bool = True
    feed: int = 0  #: length of a feed with the times of changes; 0: there is none
    listing: int = 0  #: length of a page that lists the last changes without times; 0: there is none

    @property
    def sitemaps(self) -> list[str]:
        """The URLs of the sitemap's files."""
        files = range(0, len(self.listed), PER_SITEMAP) if self.sitemap else ()
        return [f"{SITEMAP}{first or ''}" for first in files]

    @property
    def lists(self) -> tuple[Sighting, ...]:
        """Sitemaps, feed and listing, as a crawl finds them."""
        hubs = ((self.feed, FEED), (self.listing, LISTING))
        sitemaps = (Sighting(url, Kind.SITEMAP) for url in self.sitemaps)
        return (*sitemaps, *(Sighting(url, Kind.HUB) for entries, url in hubs if entries))


class EveryLink:
    """The scope of a simulated capture: all linked pages."""

    def why_not(self, url: str) -> str | None:  # noqa: ARG002 - the port's signature
        """None: every URL may be requested."""
        return None

    def outside(self, urls: Collection[str]) -> dict[str, str]:  # noqa: ARG002
        """Empty: no URL is outside the site."""
        return {}

    def widened(self, seed: str) -> EveryLink:  # noqa: ARG002
        """The same scope, as it covers every link."""
        return self


class Web:
    """Answers the frontier's requests for a simulated site with outcomes and links."""

    def __init__(self, site: Site, frozen: bool, published: Published | None = None, dated: bool = False) -> None:
        self._site = site
        self._dated = dated  # what is known at the start was read from a sitemap
        self._published = published
        self._frozen = frozen  # links are those of the start
        self._sightings: list[Sighting | None] = [None] * len(site.urls)

    def seeds(self, pages: Sequence[int], now: Instant) -> list[Sighting]:
        """Pages known when the capture begins, with their last changes if a sitemap gave them."""
        if not self._dated:
            return [Sighting(self._site.urls[page]) for page in pages]  # not cached: most are needed once
        urls, listed = self._site.urls, None if self._published is None else self._published.listed
        made = now - (self._published.late if self._published is not None else 0.0)
        hints = [Hints(self._last_change(page, made)) if listed is None or listed[page] else None for page in pages]
        return [Sighting(urls[page], hints=said) for page, said in zip(pages, hints, strict=True)]

    def sightings(self, pages: Sequence[int]) -> list[Sighting]:
        """Links to pages; the objects are cached, except for pages with very many links."""
        if len(pages) > MANY:
            return [Sighting(self._site.urls[page]) for page in pages]
        made = self._sightings
        for page in pages:
            if made[page] is None:
                made[page] = Sighting(self._site.urls[page])
        return [made[page] for page in pages]  # type: ignore[misc]

    def download(self, page: int, now: Instant, takes: Seconds) -> Outcome:
        """The outcome of a request at ``now``."""
        if not self._site.lives.alive(page, now):
            return Outcome(Result.GONE, now, now + takes, 404)
        version = sys.intern(str(self._site.changes.version(page, now)))  # few different ones, kept for long
        modified = Validators(None, formatdate(self._last_change(page, now), usegmt=True)) if self._says(page) else None
        return Outcome(
            Result.OK, now, now + takes, 200, version, validators=modified or NO_VALIDATORS, date=now + takes
        )

    def _says(self, page: int) -> bool:
        """Whether the server sends Last-Modified with the page."""
        return self._published is not None and bool(self._published.listed[page])

    def _last_change(self, page: int, now: Instant) -> Instant:
        """The last change of a page according to the server; for lying pages, that before the window."""
        site, published = self._site, self._published
        until = site.start if published is not None and published.lying[page] else now
        done = bisect_right(site.changes.rows[page], until)
        return float(site.changes.rows[page][done - 1] if done else self._begun[page])

    @cached_property
    def _begun(self) -> NDArray[np.float64]:
        """Each page's last change before the window, or its creation; without a known past, drawn by its rate."""
        site = self._site
        begun = site.past.latest(site.created)
        if len(site.past):
            return begun
        ages = np.random.default_rng(len(begun)).standard_exponential(len(begun)) / np.maximum(site.rates, RARELY)
        return np.minimum(begun, site.start) - ages

    def sitemap(self, now: Instant, url: str = SITEMAP) -> list[Sighting]:
        """A file of the sitemap at ``now``: the listed existing pages, with their last changes to the second.

        If the graph is frozen, it lists only pages reachable at the start.
        """
        assert self._published is not None, "there is a sitemap"
        site, listed = self._site, self._published.listed
        there = site.known if self._frozen else range(len(site.urls))
        first = int(url[len(SITEMAP) :] or 0)
        own = range(first, first + PER_SITEMAP)
        pages = [page for page in there if page in own and listed[page] and site.lives.alive(page, now)]
        made = now - self._published.late
        words = [Hints(self._last_change(page, made) // 1, 1.0) for page in pages]
        return [Sighting(site.urls[page], via=url, hints=hints) for page, hints in zip(pages, words, strict=True)]

    @cached_property
    def _history(self) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """All changes, before and in the window: pages and times, in order of time."""
        site = self._site
        pages = np.concatenate([site.past.pages, site.changes.pages])
        times = np.concatenate([site.past.times, site.changes.times])
        order = np.argsort(times, kind="stable")
        return pages[order], times[order]

    def hub(self, url: str, now: Instant) -> list[Sighting]:
        """The feed or list of recent changes at ``now``: the pages changed last, the latest first.

        Any other hub is a page; its links are returned.
        """
        if url not in (FEED, LISTING):
            return self.links(self._site.numbers[url], now)
        assert self._published is not None, "there is such a list"
        site, published, pages = self._site, self._published, self._history
        entries = published.feed if url == FEED else published.listing
        found: dict[int, Instant] = {}
        for place in range(int(np.searchsorted(pages[1], now - published.late, "right")) - 1, -1, -1):
            page = int(pages[0][place])
            there = site.lives.alive(page, now) and (not self._frozen or page in self._known)
            if there and published.listed[page] and not published.lying[page]:
                found.setdefault(page, float(pages[1][place]) // 1)
            if len(found) == entries:
                break
        told = {page: Hints(when, 1.0) if url == FEED else None for page, when in found.items()}
        return [Sighting(site.urls[page], via=url, hints=hints) for page, hints in told.items()]

    @cached_property
    def _known(self) -> frozenset[int]:
        return frozenset(self._site.known)

    def links(self, page: int, now: Instant) -> list[Sighting]:
        """The page's links at ``now``; if the graph is frozen, those of the start, even for deleted pages."""
        site, alive = self._site, self._site.lives.alive
        if self._frozen:
            return self.sightings([p for p in site.graph.links(page, site.start) if alive(p, site.start)])
        return self.sightings(site.graph.links(page, now)) if alive(page, now) else []
