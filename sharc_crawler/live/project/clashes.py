"""| Warnings at the crawl's start: settings of a project that mean something else, or nothing, under our scheduler."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from scrapy import Spider, signals
from scrapy.settings import SETTINGS_PRIORITIES, BaseSettings, default_settings
from scrapy.utils.python import global_object_name

from sharc_crawler.guides import guide
from sharc_crawler.live.failures.fatal_errors import fails
from sharc_crawler.live.wire.addresses import SETTING, AddressRefusedError
from sharc_crawler.live.wire.exchanges import others_handlers
from sharc_crawler.options.reading import ARGUMENTS
from sharc_crawler.plural import counted
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.make import make_strategy

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

    from sharc_crawler.live.config import Config

#: of Scrapy's CloseSpider: count pages, or time or pages since the last item
COUNTING = ("CLOSESPIDER_PAGECOUNT", "CLOSESPIDER_PAGECOUNT_NO_ITEM", "CLOSESPIDER_TIMEOUT_NO_ITEM")

#: settings of ours for the spider ``site``, and what a project's own spider has instead
OF_THE_SITE_SPIDER = {
    "SHARC_OBEY_ROBOTS": "ROBOTSTXT_OBEY",
    "SHARC_ATTEMPTS": "RETRY_TIMES",
    "SHARC_CODINGS": "what your requests send as Accept-Encoding",
}

_NO_QUEUE = "has no effect: the strategy (SHARC_STRATEGY) orders requests"
_NO_PRIORITY = "has no effect: the strategy (SHARC_STRATEGY) decides the order, not a request's priority"
#: settings of Scrapy for its queue, and what they mean under our order
OF_THE_QUEUE = {
    "DEPTH_LIMIT": "may leave out other pages than Scrapy's order does: a page may be reached by a longer way."
    " SHARC_STRATEGY=bfs asks in the order in which pages are found",
    "DEPTH_PRIORITY": _NO_PRIORITY,
    "REDIRECT_PRIORITY_ADJUST": _NO_PRIORITY,
    "RETRY_PRIORITY_ADJUST": _NO_PRIORITY,
    **dict.fromkeys(
        (
            "SCHEDULER_DEBUG",
            "SCHEDULER_DISK_QUEUE",
            "SCHEDULER_MEMORY_QUEUE",
            "SCHEDULER_PRIORITY_QUEUE",
            "SCHEDULER_START_DISK_QUEUE",
            "SCHEDULER_START_MEMORY_QUEUE",
        ),
        _NO_QUEUE,
    ),
}
_OWN = SETTINGS_PRIORITIES["spider"]
#: settings of Scrapy for a project's own spider, and what the spider ``site`` has instead
NOT_FOR_SITE = {
    "DEPTH_LIMIT": "has no effect on the spider site: -a hops={} is its bound",
    "DEPTH_PRIORITY": "has no effect on the spider site: strategy= orders its pages",
    "JOBDIR": "has no effect on the spider site: the same command, with the same output=, resumes the capture",
    "RETRY_TIMES": "has no effect on the spider site: give -s SHARC_ATTEMPTS=NUMBER, the first attempt among them",
    "ROBOTSTXT_OBEY": "has no effect on the spider site: SHARC_OBEY_ROBOTS says whether it obeys robots.txt",
    "CLOSESPIDER_ITEMCOUNT": "has no effect on the spider site, which makes no items: limit= bounds its pages",
}

NOT_KEPT = (
    "Nothing is archived: set SHARC_OUTPUT=FOLDER for WARC files and a report."
    " Set SHARC_WARC=False to crawl without archiving and to silence this warning"
)


def begin(crawler: Crawler, config: Config, *, drop_in: bool) -> list[str]:
    """The warnings at a crawl's start. A project's own spider (``drop_in``) fails if all its requests are refused."""
    said = [NOT_KEPT] if config.output is None and config.warc else []
    if not drop_in:
        return [*said, *(not_for_site(crawler.settings) if crawler else ())]
    fail_where_all_is_refused(crawler)
    return said + clashes(crawler.settings, config) + (stray(crawler.spider) if crawler.spider else [])


def clashes(settings: BaseSettings, config: Config) -> list[str]:
    """The lines for a project's own spider; none where nothing clashes.

    >>> from scrapy.settings import Settings
    >>> from sharc_crawler.live.config import Config
    >>> settings = Settings({"JOBDIR": "jobs", "CONCURRENT_REQUESTS_PER_DOMAIN": 1})
    >>> clashes(settings, Config.from_settings(settings))[0].partition(":")[0]
    "JOBDIR='jobs' has no effect"
    >>> settings = Settings({"SHARC_RESUME": True, "SHARC_OUTPUT": "o", "FEEDS": {"items.jsonl": {}}})
    >>> clashes(settings, Config.from_settings(settings))[0].partition(":")[0]
    'FEEDS=items.jsonl'
    >>> settings = Settings({"SHARC_RESUME": True, "SHARC_OUTPUT": "o", "JOBDIR": "jobs"})
    >>> clashes(settings, Config.from_settings(settings))[0].partition(". ")[2]
    'SHARC_RESUME=True, which is given, goes on where a crawl was cut off'
    """
    return [
        *_concurrency(settings, config),
        *_queue_settings(settings),
        *_resuming(settings, config),
        *_site_spider_settings(settings),
        *_answers_and_delays(settings, config),
        *_counting_settings(settings, config),
        *_other_handlers(settings),
        *_agent_without_operator(settings, config),
    ]


def _concurrency(settings: BaseSettings, config: Config) -> Iterator[str]:
    if (at_once := config.politeness.concurrency) > 1 and settings.getpriority("CONCURRENT_REQUESTS_PER_DOMAIN"):
        yield (
            f"CONCURRENT_REQUESTS_PER_DOMAIN={at_once}: a page is chosen, with what is known by then, while"
            f" up to {at_once - 1} before it are under way. 1 is the sharpest order, and the slowest"
        )


def not_for_site(settings: BaseSettings) -> Iterator[str]:
    """The warnings for the spider ``site``."""
    for name in NOT_FOR_SITE:
        meant = "True" if name == "ROBOTSTXT_OBEY" else _default(name)
        if settings.getpriority(name) != _OWN and str(settings[name]) != meant:
            yield f"{name}={settings[name]} {NOT_FOR_SITE[name].format(settings[name])}"


def _queue_settings(settings: BaseSettings) -> Iterator[str]:
    for name, words in OF_THE_QUEUE.items():
        if settings.getpriority(name) and str(settings[name]) != _default(name):
            yield f"{name}={settings[name]} {words}"


def _default(name: str) -> str:
    """Scrapy's default: a setting that repeats it says nothing."""
    return str(getattr(default_settings, name, None))


def _resuming(settings: BaseSettings, config: Config) -> Iterator[str]:
    """What Scrapy keeps of a crawl that is cut off, and what of that has no effect or is lost."""
    if settings.get("JOBDIR"):
        given = ", which is given," if config.resume else ""
        yield (
            f"JOBDIR={settings['JOBDIR']!r} has no effect: requests are kept by the frontier, not by Scrapy's queues."
            f" SHARC_RESUME=True{given} goes on where a crawl was cut off"
        )
    if config.resume and settings.getdict("FEEDS"):
        feeds = ", ".join(map(str, settings.getdict("FEEDS")))
        yield (
            f"FEEDS={feeds}: Scrapy writes items in blocks. What a kill finds in"
            " them is lost, and going on does not make it again: write items in a pipeline that does not wait"
            f" ({guide('drop-in')})"
        )


def _site_spider_settings(settings: BaseSettings) -> Iterator[str]:
    for name, own in OF_THE_SITE_SPIDER.items():
        if settings.getpriority(name):
            yield f"{name}={settings[name]} is for the spider site, and has no effect on your own: {own} counts"


def _answers_and_delays(settings: BaseSettings, config: Config) -> Iterator[str]:
    """What of Scrapy's stands between a crawl and its site."""
    if settings.getbool("HTTPCACHE_ENABLED"):
        yield (
            "HTTPCACHE_ENABLED=True: what the cache answers reaches your callbacks, but was not exchanged now: it is"
            " neither archived nor judged. Revisits bypass the cache"
        )
    if settings.getbool("AUTOTHROTTLE_ENABLED"):
        yield (
            f"AUTOTHROTTLE_ENABLED=True: its delays are kept; at most {config.politeness.concurrency} requests are made"
            " to a host at once (CONCURRENT_REQUESTS_PER_DOMAIN), whatever its target is"
        )


def _counting_settings(settings: BaseSettings, config: Config) -> Iterator[str]:
    if make_strategy(config.strategy, Setting()).revisits:
        for name in COUNTING:
            if settings.getfloat(name):
                yield (
                    f"{name}={settings[name]} counts revisits, too, and these bring no items: it may end the crawl"
                    " before all hosts are through. Raise it"
                )


def _other_handlers(settings: BaseSettings) -> Iterator[str]:
    for scheme, path in others_handlers(settings).items():
        yield (
            f"Requests of {scheme} go through {path}: what a connection leads to is not guarded there (private"
            " addresses), and WARC records are rebuilt from what it hands on"
        )


def _agent_without_operator(settings: BaseSettings, config: Config) -> Iterator[str]:
    operator, agent = config.operator, settings.get("USER_AGENT") or ""
    if operator and operator not in agent:
        yield f"USER_AGENT={agent!r} is the spider's own, and does not name SHARC_OPERATOR={operator}"


logger = logging.getLogger(__name__)
REFUSED = f"downloader/exception_type_count/{global_object_name(AddressRefusedError)}"  #: a stat of Scrapy


def fail_where_all_is_refused(crawler: Crawler) -> None:
    """Fail, by the exit code too, a crawl whose requests were all refused."""

    def closed() -> None:
        refused = crawler.stats.get_value(REFUSED, 0)
        if refused and not crawler.stats.get_value("downloader/response_count"):
            fails(crawler)
            logger.error(
                "Nothing was downloaded: %s, none to an address that may be asked. If they are meant, name their"
                " networks in %s",
                counted(refused, "request"),
                SETTING,
            )

    crawler.signals.connect(closed, signals.spider_closed, weak=False)


def stray(spider: Spider) -> list[str]:
    """A line for each ``-a NAME=value`` of ours that the spider's own code never names.

    >>> from scrapy import Spider
    >>> stray(Spider("mine", strategy="bfs", tag="x"))
    ['-a strategy=bfs is for the spider site, and has no effect on your own: give -s SHARC_STRATEGY=bfs']
    """
    given = {name: value for name, value in vars(spider).items() if name in ARGUMENTS and isinstance(value, str)}
    own = [base for base in type(spider).__mro__ if base.__module__.partition(".")[0] not in ("scrapy", "builtins")]
    named = {name for base in own for name in _named(base)} if given else set()
    return [_line(name, value) for name, value in given.items() if name not in named]


def _line(name: str, value: str) -> str:
    setting = ARGUMENTS[name].setting
    instead = f": give -s {setting}={value}" if setting else ""
    return f"-a {name}={value} is for the spider site, and has no effect on your own{instead}"


def _named(kind: type) -> Iterator[str]:
    """What the class and its methods name, as attributes, variables or texts."""
    yield from vars(kind)
    code: list[object] = [member.__code__ for member in vars(kind).values() if isinstance(member, FunctionType)]
    while code:
        one = code.pop()
        if isinstance(one, CodeType):
            yield from (*one.co_names, *one.co_varnames)
            code += one.co_consts
        elif isinstance(one, str):
            yield one
