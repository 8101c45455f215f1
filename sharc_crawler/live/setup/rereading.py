"""A site's sitemaps read once more, as a crawl reads them, for what a capture claims by them (``sharc confirm``)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from scrapy.crawler import CrawlerProcess

from sharc_crawler.errors import SharcError
from sharc_crawler.live.beginning import session_of
from sharc_crawler.live.failures.failing import EXIT_CODE, INTERRUPTED
from sharc_crawler.live.setup.survey import capture_settings
from sharc_crawler.live.spiders.site import SiteSpider

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from sharc_crawler.frontier.spec import CaptureSpec
    from sharc_crawler.live.config import Config

AUTO = "auto"  #: where sitemaps are looked for unless somebody names them


class RereadingSpider(SiteSpider):
    """Reads robots.txt and sitemaps, and keeps them."""

    name = "rereading"

    def capture_specs(self, config: Config) -> list[CaptureSpec]:
        """The same captures, of which no page is visited."""
        return [replace(spec, mode="survey") for spec in super().capture_specs(config)]


def read_again(capture: Mapping[str, object], folder: Path, chosen: Sequence[str] = ()) -> None:
    """Have the sitemaps of a certificate's ``capture`` read into a folder; once per process, as any crawl.

    ``chosen``: settings, as ``NAME=value``. Raises :class:`~sharc_crawler.errors.SharcError` where that fails.
    """
    settings = capture_settings(chosen)
    seeds, before = capture["seeds"], capture["settings"]
    assert isinstance(seeds, list), "by the schema"
    assert isinstance(before, dict), "by the schema"
    arguments = {"url": ",".join(seeds), "output": str(folder), "scope": str(before["scope"]), "history": ""}
    arguments |= {name: str(before[name]) for name in ("delay", "sitemap") if before.get(name, AUTO) != AUTO}
    SiteSpider.prepare(settings.copy(), arguments)  # what cannot be used is told before anything begins
    process = CrawlerProcess(settings)
    crawler = process.create_crawler(RereadingSpider)
    process.crawl(crawler, **arguments)
    process.start()
    if process.bootstrap_failed:
        raise SharcError(f"{', '.join(seeds)}: the sitemaps could not be read again")
    if crawler.stats.get_value(EXIT_CODE, INTERRUPTED) == INTERRUPTED or not session_of(crawler).sites.done:
        raise SharcError(
            f"{', '.join(seeds)}: stopped before the sitemaps were read again; the same command begins anew"
        )
