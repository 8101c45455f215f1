"""| The living site: its pages change by Poisson processes; it has no sockets and no clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from sharc_crawler.demo import answers, content, layout, listings, newsroom, process
from sharc_crawler.demo.answers import Response, StatedState
from sharc_crawler.demo.newsroom import Newsroom
from sharc_crawler.errors import UsageError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from sharc_crawler.demo.layout import Page
    from sharc_crawler.model import Instant, Rate, Seconds

DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class LivingSite(layout.Parameters):
    """A site as a function of time: the same parameters and the same instant, the same bytes.

    Whatever a crawler does, and however often it asks, the truth (:meth:`changes`) does not depend on it, so that
    methods are compared on one world (the idea of BUbiNG's named-graph server; Boldi et al., 2018). The one thing that
    remembers is the flaky page: a site object answers its first request with 500.

    >>> site = LivingSite(seed=1, pages=50)
    >>> answer = site.respond("GET", "/", {"host": "localhost"}, now=1e9)
    >>> answer.status, answer == site.respond("GET", "/", {"host": "localhost"}, now=1e9)
    (200, True)
    >>> later = {"If-None-Match": answer.header("ETag")}
    >>> site.respond("GET", "/", later, now=1e9 + 0.01).status
    304
    """

    _failed: set[str] = field(default_factory=set, init=False, repr=False, compare=False)

    @cached_property
    def _pages(self) -> dict[str, Page]:
        pages = layout.build_pages(self)
        if self.news:
            pages["/"] = replace(pages["/"], links=(*pages["/"].links, newsroom.FRONT))
        return pages

    @cached_property
    def newsroom(self) -> Newsroom:
        """Publishes articles, if ``news`` is above 0."""
        return Newsroom(self.seed, self.news, self.news_sections, self.news_skew, self.news_feeds)

    @cached_property
    def _resources(self) -> dict[str, Rate]:
        images = layout.build_images(self)
        doubled = {content.doubled(path): rate for path, rate in images.items()}
        data = {path: page.rate for path, page in self._data.items()}
        return dict.fromkeys(self._still, 0.0) | images | doubled | data

    @cached_property
    def _data(self) -> dict[str, Page]:
        """The pages made by script, by the path of their data."""
        return {layout.data_of(page.target): page for page in self._pages.values() if page.scripted}

    @property
    def _still(self) -> list[str]:
        """Resources that never change."""
        return [path for path in content.STILL if path != "/app.js" or self._data]

    @property
    def paths(self) -> tuple[str, ...]:
        """The pages (target: path and query), home first."""
        return tuple(self._pages)

    @property
    def resources(self) -> tuple[str, ...]:
        """What pages embed and scripts fetch: images, style, scripts, data."""
        return tuple(self._resources)

    @cached_property
    def changefreqs(self) -> dict[str, Seconds]:
        """The meaning of changefreq here: name → mean time between changes, in real seconds."""
        return {name: period / self.scale for name, period in listings.PERIODS.items()}

    def rate(self, path: str) -> Rate:
        """The true change rate of a page or resource, per second; a page made by script never changes itself."""
        if path in self._pages:
            return 0.0 if self._pages[path].scripted else self._pages[path].rate
        try:
            return self._resources[path]
        except KeyError:
            raise UsageError(
                f"path={path!r} is not on this site; LivingSite.paths and .resources name what is"
            ) from None

    def changes(self, path: str, start: Instant, end: Instant) -> NDArray[np.float64]:
        """The true instants of change of a page or resource in (start, end], ascending."""
        return process.changes(f"{self.seed} {path}", self.rate(path), start, end)

    def truth(self, start: Instant, end: Instant) -> dict[str, NDArray[np.float64]]:
        """:meth:`changes` of every page and resource, including those without any."""
        return {path: self.changes(path, start, end) for path in (*self.paths, *self.resources)}

    def respond(self, method: str, target: str, headers: Mapping[str, str], now: Instant) -> Response:
        """The answer to a request at ``now``, by path and query (``target``), Host and conditional headers."""
        if method not in ("GET", "HEAD"):
            return answers.complete(answers.REFUSAL, method, now)
        lower = {name.lower(): value for name, value in headers.items()}
        return answers.complete(self._answer(target, lower, now), method, now)

    def _answer(self, target: str, headers: Mapping[str, str], now: Instant) -> Response:
        path = target.partition("?")[0]
        if page := self._pages.get(target) or self._pages.get(path):
            return self._page(page, headers, now)
        if path in self._data:
            return self._fetched(path, self._data[path], headers, now)
        if path in self._resources:
            return self._resource(path, headers, now)
        if path in layout.REDIRECTS:
            status, location = layout.REDIRECTS[path]
            return Response(status, (("Location", location),))
        if self.news and path.startswith(newsroom.FRONT):
            return self.newsroom.answer(path, f"http://{headers.get('host', 'localhost')}", headers, now)
        body = self._listing(path, f"http://{headers.get('host', 'localhost')}", now)
        return answers.MISSING if body is None else answers.ok(path, body)

    def _page(self, page: Page, headers: Mapping[str, str], now: Instant) -> Response:
        if page.target == layout.FLAKY and page.target not in self._failed:
            self._failed.add(page.target)
            return answers.FAILURE
        if page.scripted:
            return answers.ok(page.target, content.shell(page.title, layout.data_of(page.target)))
        claim = StatedState(page.target, self._claimed(page, now)) if page.validators else None
        began = self._began(page.target, now)
        answer = answers.conditional(claim, headers, now, page.target, lambda: _html(self.seed, page, began))
        return replace(answer, delay=self.slow) if page.target == layout.SLOW else answer

    def _resource(self, path: str, headers: Mapping[str, str], now: Instant) -> Response:
        began = self._began(path, now)
        return answers.conditional(
            StatedState(path, began), headers, now, path, lambda: content.resource(path, f"{began!r}")
        )

    def _fetched(self, path: str, page: Page, headers: Mapping[str, str], now: Instant) -> Response:
        """The data of a page made by script."""
        began = self._began(path, now)
        claim = StatedState(path, self._claimed(page, now)) if page.validators else None
        name = f"{self.seed} {page.target}"
        return answers.conditional(
            claim, headers, now, path, lambda: content.data(name, began, page.links, page.images)
        )

    def _listing(self, path: str, base: str, now: Instant) -> bytes | None:
        if path == "/robots.txt":
            news = (newsroom.SITEMAP,) if self.news and self.news_feeds else ()
            return listings.robots(base, self.crawl_delay, news)
        if path == listings.INDEX:
            return listings.sitemap_index(base)
        if path in listings.SITEMAPS:
            return listings.sitemap(path, self._entries(listings.SITEMAPS[path], base, now))
        return b"<p>Not for robots.</p>\n" if path == layout.PRIVATE else None

    def _entries(self, section: str, base: str, now: Instant) -> Iterator[str]:
        for page in self._pages.values():
            if page.section == section:
                frequency = listings.changefreq(page.rate, self.scale)
                yield listings.entry(base + page.target, self._claimed(page, now), frequency, page.priority)

    def _began(self, path: str, now: Instant) -> Instant:
        """When the state at ``now`` began; not before 1970."""
        return max(0.0, process.last_change(f"{self.seed} {path}", self.rate(path), now))

    def _claimed(self, page: Page, now: Instant) -> Instant:
        """When the site says that the state began."""
        changing = layout.data_of(page.target) if page.scripted else page.target
        return self._began(changing, now // DAY * DAY if page.lying else now)


@lru_cache(maxsize=4096)
def _html(seed: int, page: Page, began: Instant) -> bytes:
    return content.page(page.title, f"{seed} {page.target}", began, page.links, page.images)
