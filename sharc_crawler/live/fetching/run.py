"""Fetches an archive's history of seeds by a Scrapy crawl of its own, one request at a time, with our handler."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from scrapy import Spider
from scrapy.crawler import CrawlerProcess
from scrapy.settings import Settings

from sharc_crawler import __version__
from sharc_crawler.archive.histories.fetched import AnswerFolder
from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.archive.warcinfo import CaptureInfo
from sharc_crawler.bucket import TokenBucket
from sharc_crawler.errors import SharcError
from sharc_crawler.live import profile
from sharc_crawler.live.addon import HANDLER, RESOLVER
from sharc_crawler.live.clock import clock_of
from sharc_crawler.live.fetching.client import Client, Patience
from sharc_crawler.live.fetching.work import FetchPlan, Tally, Work
from sharc_crawler.live.setup.operator import openings, require_operator, user_agent
from sharc_crawler.live.wire.addresses import SETTING, AddressRules, Opening

BURST = 4  #: requests at once after an idle time


@dataclass(frozen=True, slots=True)
class Manners:
    """How to ask an archive."""

    per_minute: float = 24.0  #: requests
    operator: str | None = None  #: contact of the operator
    allowed: tuple[str, ...] = ()  #: private networks


class ArchiveSpider(Spider):
    """A spider without callbacks: the work asks and awaits each answer."""

    name = "archive"

    def __init__(self, work: Work, manners: Manners, named: Sequence[str]) -> None:
        super().__init__()
        self._work, self._manners, self._named = work, manners, named
        self.error: SharcError | None = None

    def openings(self) -> list[Opening]:
        """A private archive that was named may be contacted, at its port only."""
        return [opening._replace(site="") for opening in openings(self._named, "host")]

    async def start(self) -> AsyncIterator[None]:
        """Do all the work; an error ends the crawl, and :func:`fetch` raises it."""
        assert self.crawler.engine is not None, "the engine starts the spider"
        clock, manners = clock_of(self.crawler), self._manners
        bucket = TokenBucket(manners.per_minute / 60.0, BURST)
        try:
            await self._work.run(
                Client(self.crawler.engine.download_async, bucket, clock, Patience.at(manners.per_minute))
            )
        except SharcError as error:
            self.error = error
        nothing_to_schedule: tuple[None, ...] = ()
        for nothing in nothing_to_schedule:
            yield nothing


def fetch(plan: FetchPlan, output: Path, manners: Manners, report: Callable[[str, int, int], None]) -> Tally:
    """Fetch what the folder lacks, once per process; ``report`` gets phase, done, total. Raises SharcError."""
    settings = _settings(plan, manners)
    about = {
        "server": plan.dialect.server,
        "dialect": plan.dialect.name,
        "level": "website" if plan.website else "homepage",
        "since": plan.since,
    }
    folder = AnswerFolder(output, about)
    info = CaptureInfo(f"sharc-crawler/{__version__}", manners.operator or "not stated", "not asked", "mementos")
    options = WarcOptions(dedup="off")
    writer = WarcWriter(folder.mementos, "mementos", "fetch", info, options) if plan.replay else None
    work = Work(plan, folder, writer, report)
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(ArchiveSpider)
    try:
        process.crawl(crawler, work, manners, _named(plan))
        process.start()
    finally:
        if writer is not None:
            writer.close()
    if isinstance(crawler.spider, ArchiveSpider) and crawler.spider.error:
        raise crawler.spider.error
    return work.tally


def _named(plan: FetchPlan) -> list[str]:
    """The addresses that the user typed."""
    return [plan.dialect.server, *([plan.replay] if plan.replay else [])]


def _settings(plan: FetchPlan, manners: Manners) -> Settings:
    AddressRules.of(manners.allowed)
    settings = Settings({name: getattr(profile, name) for name in dir(profile) if name.isupper()})
    settings.setdict(
        {
            "ADDONS": {},  # no frontier: all requests are known in advance
            "SPIDER_MODULES": [],
            "DOWNLOAD_HANDLERS": {"http": HANDLER, "https": HANDLER},
            "USER_AGENT": user_agent(manners.operator),
            "TWISTED_DNS_RESOLVER": RESOLVER,
            "DOWNLOAD_DELAY": 0,  # the token bucket sets the pace
            "ROBOTSTXT_OBEY": False,  # an interface that the user named, not a site to crawl
            "RETRY_ENABLED": False,
            "REDIRECT_ENABLED": False,
            "SHARC_OPERATOR": manners.operator,
            SETTING: manners.allowed,
        }
    )
    require_operator(settings, _named(plan))
    return settings
