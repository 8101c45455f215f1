"""``scrapy crawl site``: capture whole sites, pages and what they need to be replayed."""

from __future__ import annotations

import re
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

from scrapy import Spider

from sharc_crawler.frontier.lifecycle import State
from sharc_crawler.frontier.pages import NO_PARENT
from sharc_crawler.links import document, sitemap
from sharc_crawler.links.entries import SitemapKind
from sharc_crawler.live import instant
from sharc_crawler.live.arguments import Arguments
from sharc_crawler.live.naming import named
from sharc_crawler.live.operator import openings, refuse_private, require_operator
from sharc_crawler.live.requests import META_KEY, header, timestamp
from sharc_crawler.live.session import session_of
from sharc_crawler.model import Kind, Result, Sighting, Slot

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Self

    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from sharc_crawler.frontier.frontier import Frontier
    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.links.found import Found
    from sharc_crawler.live.addresses import Opening
    from sharc_crawler.model import Fetch, PageId
    from sharc_crawler.polling.terms import Terms


class SiteSpider(Spider):
    """All pages come from the frontier; this reads what a response names and hands it over, in bulk."""

    name = "site"
    custom_settings: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        # The frontier owns order, delays, robots, redirects and retries; nobody else may.
        "ROBOTSTXT_OBEY": False,
        "REDIRECT_ENABLED": False,
        "METAREFRESH_ENABLED": False,
        "RETRY_ENABLED": False,
        "HTTPCACHE_ENABLED": False,
        "COOKIES_ENABLED": False,  # a capture is nobody's session
        "AUTOTHROTTLE_ENABLED": False,
        "COMPRESSION_ENABLED": True,
        "CONCURRENT_ITEMS": 1,
    }

    def __init__(self, arguments: Arguments, crawler: Crawler) -> None:
        super().__init__()
        self.arguments = arguments
        self._set_crawler(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *_: Any, **given: Any) -> Self:
        """Check the arguments and turn them into settings."""
        return cls(cls.prepare(crawler.settings, given), crawler)

    @staticmethod
    def prepare(settings: BaseSettings, given: dict[str, str]) -> Arguments:
        """Arguments become settings of the highest priority: what is typed for this crawl counts.

        Raises :class:`~sharc_crawler.errors.UsageError` for what cannot be used.
        """
        arguments = Arguments.parse(given)
        require_operator(settings, arguments.urls)
        refuse_private(settings, [url for url in arguments.urls if url not in arguments.options.url])
        for name, value in arguments.settings.items():
            settings.set(name, value, "cmdline")
        output = settings.get("SHARC_OUTPUT") or _folder_name(arguments)
        settings.set("SHARC_OUTPUT", named(output, {"name": SiteSpider.name}, time.time()), "cmdline")
        return arguments

    def openings(self) -> list[Opening]:
        """Private hosts that this crawl may contact, as they were typed."""
        return openings(self.arguments.options.url, self.arguments.options.scope)

    @property
    def terms(self) -> Terms | None:
        """Of an instant crawl."""
        return self.arguments.instant

    async def start(self) -> Any:
        """Nothing starts here: the scheduler opens :meth:`capture_specs`."""
        nothing_to_start: tuple[Any, ...] = ()
        for nothing in nothing_to_start:
            yield nothing

    def capture_specs(self) -> list[CaptureSpec]:
        """The site captures of this crawl."""
        config = session_of(self.crawler).config
        arguments, _ = self.arguments.chosen(config.output or Path())
        settings = {"delay": config.politeness.delay, "masks": config.masks or "", "history": config.history or ""}
        return arguments.specs(config.strategy, settings)

    def handle(self, response: Response) -> None:
        """Read what a settled response names; every status comes here."""
        fetch: Fetch = response.meta[META_KEY]
        session = session_of(self.crawler)
        lease = session.leases[fetch.lease]
        if lease.outcome is None or lease.outcome.result is not Result.OK or fetch.kind is Kind.ROBOTS:
            return  # a robots.txt names nothing, whatever it looks like
        if instant.wanted(fetch, self.terms):
            lease.links = instant.sightings(response, fetch)
        elif fetch.kind is Kind.SITEMAP:
            lease.links, problems = _sitemap_links(response)
            if problems:
                lease.outcome = replace(lease.outcome, error="; ".join(problems))
        elif fetch.slot is not Slot.SECOND or (
            # equal bytes would name what they named at the first visit
            fetch.kind is Kind.PAGE and lease.outcome.digest != session.frontier.pages.remembered(fetch.page).digest
        ):
            found = document.extract(response.body, response.url, header(response, "Content-Type"))
            feeds = found.feeds if found.feeds and _is_front(session.frontier, fetch.page) else ()
            lease.links = _sightings(found, feeds, response.url)
            lease.outcome = replace(lease.outcome, document=found.document)

    def failed(self, failure: Failure) -> None:
        """The outcome was recorded where it happened."""


def _folder_name(arguments: Arguments) -> str:
    """Where a capture goes that nobody has named a folder for."""
    host = re.sub(r"[^A-Za-z0-9.-]+", "-", urlsplit(arguments.urls[0]).netloc)
    more = f"-and-{len(arguments.urls) - 1}-more" if len(arguments.urls) > 1 else ""
    return f"captures/{host}{more}-{timestamp(time.time())}"


def _is_front(frontier: Frontier, page: PageId) -> bool:
    """Whether a page is a seed, or where one redirects to.

    Its feeds are the site's, and pages as others are; blogs name one more in the head of each post.
    """
    pages = frontier.pages
    while (parent := pages.parents[page]) != NO_PARENT and pages.states[parent] == State.LOST:
        page = parent
    return pages.urls[page] in frontier.capture_of(page).spec.seeds


def _sightings(found: Found, feeds: Sequence[str], via: str) -> list[Sighting]:
    """Pages and resources that a document names."""
    resource, page = Kind.RESOURCE, Kind.PAGE
    return [
        *(Sighting(url, resource, via) for url in found.resources),
        *(Sighting(url, page, via) for url in (*found.links, *feeds)),
    ]


def _sitemap_links(response: Response) -> tuple[list[Sighting], list[str]]:
    """Pages of a sitemap, and the sitemaps of an index (on its own host only)."""
    found = sitemap.read(response.body, response.url)
    host = urlsplit(response.url).netloc
    problems = list(found.problems)
    links = []
    for entry in found.entries:
        if found.kind is not SitemapKind.INDEX:
            links.append(Sighting(entry.loc, Kind.PAGE, response.url, entry.hints))
        elif urlsplit(entry.loc).netloc == host:
            links.append(Sighting(entry.loc, Kind.SITEMAP, response.url))
        else:
            problems.append(f"{entry.loc} is on another host and not followed")
    return links, problems
