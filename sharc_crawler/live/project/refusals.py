"""A project's crawl of which every request was refused has failed: without the add-on its pages would have come."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from scrapy import signals
from scrapy.utils.python import global_object_name

from sharc_crawler.live.failed import fails
from sharc_crawler.live.wire.addresses import SETTING, AddressRefusedError
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from scrapy.crawler import Crawler

logger = logging.getLogger(__name__)
REFUSED = f"downloader/exception_type_count/{global_object_name(AddressRefusedError)}"  #: a stat of Scrapy's


def fail_where_all_is_refused(crawler: Crawler) -> None:
    """Told when the crawl ends, by its exit code, too."""

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
