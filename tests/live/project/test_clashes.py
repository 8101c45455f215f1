"""Arguments of the spider ``site`` given to a project's own spider: said in a line, unless its code names them."""

from __future__ import annotations

import pytest
from scrapy import Spider
from scrapy.settings import Settings

from sharc_crawler.live.addon import HANDLER
from sharc_crawler.live.config import Config
from sharc_crawler.live.extension import INSTEAD
from sharc_crawler.live.project.clashes import NOT_FOR_SITE, NOT_KEPT, begin, clashes, not_for_site, stray


class Own(Spider):
    name = "own"

    def parse(self, response):
        return [{"order": one} for one in (self.strategy, getattr(self, "delay", ""))]


class Inherits(Own):
    def also(self):
        return [lambda: self.mode]


def test_what_the_code_names_is_its_own() -> None:
    given = {"strategy": "bfs", "delay": "1", "mode": "x", "tag": "y"}
    assert [line.split()[1] for line in stray(Own(**given))] == ["mode=x"]
    assert stray(Inherits(**given)) == []


def test_the_setting_is_named_where_there_is_one() -> None:
    assert stray(Spider("plain", delay="2", include="/a", url="http://h.example/")) == [
        "-a delay=2 is for the spider site, and has no effect on your own: give -s DOWNLOAD_DELAY=2",
        "-a include=/a is for the spider site, and has no effect on your own",
        "-a url=http://h.example/ is for the spider site, and has no effect on your own",
    ]


@pytest.mark.parametrize(
    ("settings", "said"), [({}, [NOT_KEPT]), ({"SHARC_OUTPUT": "captures"}, []), ({"SHARC_WARC": False}, [])]
)
def test_a_crawl_that_archives_nothing_says_so_unless_that_was_asked_for(settings, said) -> None:
    assert begin(None, Config.from_settings(Settings(settings)), drop_in=False) == said


#: what a project may choose of Scrapy's, and how the line about it begins; None: it means what it always meant
CHOSEN = {
    "AUTOTHROTTLE_ENABLED": (True, "AUTOTHROTTLE_ENABLED=True: its delays are kept"),
    "CLOSESPIDER_ERRORCOUNT": (3, None),
    "CLOSESPIDER_ITEMCOUNT": (3, None),
    "CLOSESPIDER_PAGECOUNT": (3, "CLOSESPIDER_PAGECOUNT=3 counts revisits"),
    "CLOSESPIDER_PAGECOUNT_NO_ITEM": (3, "CLOSESPIDER_PAGECOUNT_NO_ITEM=3 counts revisits"),
    "CLOSESPIDER_TIMEOUT": (3, None),
    "CLOSESPIDER_TIMEOUT_NO_ITEM": (3, "CLOSESPIDER_TIMEOUT_NO_ITEM=3 counts revisits"),
    "CONCURRENT_REQUESTS": (3, None),
    "CONCURRENT_REQUESTS_PER_DOMAIN": (3, "CONCURRENT_REQUESTS_PER_DOMAIN=3: a page is chosen"),
    "COOKIES_ENABLED": (False, None),
    "DEPTH_LIMIT": (3, "DEPTH_LIMIT=3 may leave out other pages"),
    "DEPTH_PRIORITY": (1, "DEPTH_PRIORITY=1 has no effect"),
    "DEPTH_STATS_VERBOSE": (True, None),
    "DOWNLOAD_DELAY": (3, None),
    "DOWNLOAD_TIMEOUT": (3, None),
    "DUPEFILTER_CLASS": ("own.Filter", None),
    "DUPEFILTER_DEBUG": (True, None),
    "HTTPCACHE_ENABLED": (True, "HTTPCACHE_ENABLED=True: what the cache answers"),
    "JOBDIR": ("jobs", "JOBDIR='jobs' has no effect"),
    "REDIRECT_MAX_TIMES": (3, None),
    "REDIRECT_PRIORITY_ADJUST": (0, "REDIRECT_PRIORITY_ADJUST=0 has no effect"),
    "REQUEST_FINGERPRINTER_CLASS": ("own.Fingerprinter", None),
    "RETRY_PRIORITY_ADJUST": (0, "RETRY_PRIORITY_ADJUST=0 has no effect"),
    "RETRY_TIMES": (3, None),
    "ROBOTSTXT_OBEY": (True, None),
    "SCHEDULER_DEBUG": (True, "SCHEDULER_DEBUG=True has no effect"),
    "SCHEDULER_DISK_QUEUE": ("own.Queue", "SCHEDULER_DISK_QUEUE=own.Queue has no effect"),
    "SCHEDULER_MEMORY_QUEUE": ("own.Queue", "SCHEDULER_MEMORY_QUEUE=own.Queue has no effect"),
    "SCHEDULER_PRIORITY_QUEUE": ("own.Queue", "SCHEDULER_PRIORITY_QUEUE=own.Queue has no effect"),
    "SCHEDULER_START_DISK_QUEUE": ("own.Queue", "SCHEDULER_START_DISK_QUEUE=own.Queue has no effect"),
    "SCHEDULER_START_MEMORY_QUEUE": ("own.Queue", "SCHEDULER_START_MEMORY_QUEUE=own.Queue has no effect"),
}
HANDLERS = dict.fromkeys(("http", "https"), HANDLER)
BEGINS = ("CLOSESPIDER_", "DEPTH_", "DUPEFILTER_", "SCHEDULER_", "JOBDIR", "AUTOTHROTTLE_ENABLED", "HTTPCACHE_ENABLED")


@pytest.mark.parametrize("name", CHOSEN)
def test_each_setting_that_means_something_else_has_a_line(name) -> None:
    value, begins = CHOSEN[name]
    settings = Settings({"SHARC_STRATEGY": "sharc-selective", "DOWNLOAD_HANDLERS": HANDLERS, name: value})
    said = clashes(settings, Config.from_settings(settings))
    assert len(said) == (begins is not None)
    assert all(line.startswith(begins) for line in said)


def test_no_setting_of_scrapys_queue_order_or_end_is_forgotten() -> None:
    theirs = [name for name in Settings() if name.startswith(BEGINS)]
    assert {*theirs} <= {*CHOSEN}


def test_copied_defaults_say_nothing() -> None:
    settings = Settings({name: value for name, value in Settings().items() if name in CHOSEN})
    settings.set("CONCURRENT_REQUESTS_PER_DOMAIN", 1)
    settings.set("DOWNLOAD_HANDLERS", HANDLERS)
    assert clashes(settings, Config.from_settings(settings)) == []


def test_what_the_spider_site_has_other_words_for_is_said() -> None:
    given = {"DEPTH_LIMIT": "2", "DEPTH_PRIORITY": "1", "JOBDIR": "jobs", "RETRY_TIMES": "5", "ROBOTSTXT_OBEY": "False"}
    said = [*not_for_site(Settings(given | {"CLOSESPIDER_ITEMCOUNT": "9"}))]
    assert [line.partition("=")[0] for line in said] == [*INSTEAD]
    assert "DEPTH_LIMIT=2 has no effect on the spider site: -a hops=2 is its bound" in said
    assert NOT_FOR_SITE.keys() == {*INSTEAD}
    assert [*not_for_site(Settings({"ROBOTSTXT_OBEY": "True", "DEPTH_LIMIT": 0}))] == []
    own = Settings()
    own.set("ROBOTSTXT_OBEY", False, "spider")
    assert [*not_for_site(own)] == []
