"""``scrapy crawl site``: capture whole sites, pages and what they need to be replayed."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from scrapy import Spider

from sharc_crawler.live.addon import ORIGINS
from sharc_crawler.live.monitoring.crawl_log import QuietFormatter
from sharc_crawler.live.reading.readers import PROCESS
from sharc_crawler.live.setup.arguments import Arguments
from sharc_crawler.live.setup.operator import openings, require_operator
from sharc_crawler.live.writing.child import begin_ahead
from sharc_crawler.options.reading import check_names

if TYPE_CHECKING:
    from scrapy.crawler import Crawler
    from scrapy.http import Response
    from scrapy.settings import BaseSettings
    from twisted.python.failure import Failure

    from sharc_crawler.live.config import Config
    from sharc_crawler.live.wire.addresses import Opening
    from sharc_crawler.polling.terms import Terms
    from sharc_crawler.state.spec import CaptureSpec

#: of Scrapy's middlewares: a capture spider has no domains and no passwords, its frontier sees to the others' work, and
#: its requests are made with what the last three would add
IDLE = (
    *("offsite", "httpauth", "stats", "robotstxt", "redirect", "retry", "httpcache", "cookies", "httpcompression"),
    *("defaultheaders", "useragent", "downloadtimeout"),
)


class CaptureSpider(Spider):
    """All pages come from the frontier, which nobody else's order, delay, redirect or retry may disturb."""

    custom_settings: ClassVar[dict[str, Any]] = {  # type: ignore[misc]
        # The frontier owns order, delays, robots, redirects and retries; nobody else may.
        "ROBOTSTXT_OBEY": False,
        "REDIRECT_ENABLED": False,
        "METAREFRESH_ENABLED": False,
        "RETRY_ENABLED": False,
        "HTTPCACHE_ENABLED": False,
        "COOKIES_ENABLED": False,  # a capture has no session of its own
        "AUTOTHROTTLE_ENABLED": False,
        "COMPRESSION_ENABLED": False,  # bodies are decoded when they are read
        "DOWNLOADER": "sharc_crawler.live.private.CaptureDownloader",
        "CONCURRENT_ITEMS": 1,
        "SPIDER_MIDDLEWARES_BASE": {},  # they handle what callbacks yield; ours yield nothing
    }

    def _set_crawler(self, crawler: Crawler) -> None:
        """Leave out what has nothing to do in a capture, and would be asked for each page; a project's own stays."""
        super()._set_crawler(crawler)
        theirs = crawler.settings["DOWNLOADER_MIDDLEWARES_BASE"]
        for component in [one for one in theirs if one.startswith("scrapy.") and one.split(".")[-2] in IDLE]:
            theirs.pop(component)
        own, name = crawler.settings, "SPIDER_MIDDLEWARES"
        own.set(name, {**own[name], ORIGINS: None}, own.getpriority(name) or 0)
        crawler.settings.set("LOG_FORMATTER", QuietFormatter, "addon")

    async def start(self) -> Any:
        """Nothing starts here: what is captured is the session's."""
        nothing_to_start: tuple[Any, ...] = ()
        for nothing in nothing_to_start:
            yield nothing

    def handle(self, response: Response) -> None:
        """What it names is read elsewhere. Called only where a spider middleware looks at what callbacks get."""

    def failed(self, failure: Failure) -> None:
        """The outcome was recorded where it happened."""


def without_schedulers(given: Mapping[str, str]) -> dict[str, str]:
    """The arguments that somebody gave: scrapyd adds ``_job``."""
    return {name: value for name, value in given.items() if name[:1] != "_"}


class SiteSpider(CaptureSpider):
    """Captures the sites that its arguments name: :meth:`capture_specs`."""

    name = "site"

    def __init__(self, arguments: Arguments, crawler: Crawler) -> None:
        super().__init__()
        self.arguments = arguments
        self._set_crawler(crawler)

    @classmethod
    def from_crawler(cls, crawler: Crawler, *_: Any, **given: Any) -> Self:
        """Check the arguments and turn them into settings."""
        made = cls(cls.prepare(crawler.settings, without_schedulers(given)), crawler)
        begin_ahead(PROCESS)  # so that it is ready for the first document
        return made

    @staticmethod
    def prepare(settings: BaseSettings, given: dict[str, str]) -> Arguments:
        """Arguments become settings of the highest priority: what is typed for this crawl counts.

        Raises :class:`~sharc_crawler.errors.UsageError` for what cannot be used.
        """
        if "collection" in given:
            from sharc_crawler.collection.crawl_arguments import followed  # loads YAML: only for a collection

            given, brought = followed(given, time.time())
            for name, value in brought.items():
                settings.set(name, value, "spider")  # settings on the command line take precedence
        arguments = Arguments.parse(given)
        check_names(settings)  # first: a misspelt name should not be reported as missing
        require_operator(settings, arguments.urls)
        if settings.getpriority("DEFAULT_REQUEST_HEADERS"):  # not Scrapy's defaults
            from sharc_crawler.live.setup.checks import refuse_secrets  # only if the user set some

            refuse_secrets(settings)
        if listed := [url for url in arguments.urls if url not in arguments.options.url]:
            from sharc_crawler.live.setup.checks import refuse_private  # only for lists

            refuse_private(settings, listed)
        if arguments.options.browser != "never":
            from sharc_crawler.live.browser.chromium import version  # only if browsers show pages

            version()
        settings.set("CONCURRENT_REQUESTS_PER_DOMAIN", 1, "addon")  # one page is handled before the next is chosen
        for name, value in arguments.settings.items():
            settings.set(name, value, "cmdline")
        output = Path(settings.get("SHARC_OUTPUT") or "")
        if not settings.get("SHARC_OUTPUT"):
            from sharc_crawler.live.setup.folder_names import unnamed  # only if the user named none

            output = Path(unnamed(arguments.urls, time.time()))
        if "%(" in str(output):
            from sharc_crawler.live.setup.folder_names import named  # only for patterns

            output = named(output, {"name": SiteSpider.name}, time.time())
        settings.set("SHARC_OUTPUT", output, "cmdline")
        return arguments

    def openings(self) -> list[Opening]:
        """Private hosts that this crawl may contact, as they were typed."""
        return openings(self.arguments.options.url, self.arguments.options.scope)

    @property
    def terms(self) -> Terms | None:
        """The terms of an instant crawl; ``None``: it is none."""
        return self.arguments.instant

    def capture_specs(self, config: Config) -> list[CaptureSpec]:
        """The site captures of this crawl."""
        arguments, _ = self.arguments.chosen(config.output or Path())
        settings = {"delay": config.politeness.delay, "masks": config.masks or "", "history": config.history or ""}
        if config.masks:
            from sharc_crawler.changes.masks import described  # only if there are some

            settings |= described(config.masks)
        if arguments.options.browser != "never":
            from sharc_crawler.live.browser.browser_options import as_settings  # only then, too

            settings |= as_settings(arguments.options)
        kept = {"keep_secrets": True} if arguments.options.keep_secrets else {}
        return arguments.specs(config.strategy, settings | kept, config)
