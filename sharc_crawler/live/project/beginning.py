"""| Begins the session of a project's own spider, which decides what is fetched."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.live.project.request_texts import lacking_method
from sharc_crawler.live.setup.places import is_begun

if TYPE_CHECKING:
    from scrapy import Spider
    from scrapy.settings import BaseSettings

    from sharc_crawler.frontier.hosts import Politeness
    from sharc_crawler.live.config import Config

OURS = "sharc_crawler."  #: of schedulers whose requests are in a frontier's state


def hostname(url: str) -> str:
    """A host without its port, as Scrapy's downloader names its slots."""
    return urlsplit(url).hostname or ""


class Everything:
    """A scope without bounds: the project's spider has decided already."""

    def why_not(self, _: str) -> str | None:
        """No reason."""
        return None

    def outside(self, _: Collection[str]) -> dict[str, str]:
        """No URL is outside of the project's scope."""
        return {}

    def widened(self, _: str) -> Everything:
        """The same scope: it is as wide as it can be."""
        return self


PARTS = Parts(scope=lambda _: Everything(), host_of=hostname)


def politeness_of(config: Config, spider: Spider | None, settings: BaseSettings) -> Politeness:
    """The politeness of a project, whose own middlewares and download slots see to robots and retries.

    Raises :class:`~sharc_crawler.errors.UsageError` for an output folder in which it cannot go on.
    """
    politeness = replace(config.politeness, obey_robots=False, attempts=1)
    if config.resume == "rebuild":
        raise UsageError(
            "resume='rebuild' is of the spider site alone: what a project's own callbacks ask for is in no WARC file."
            " Give SHARC_RESUME=True to go on"
        )
    if config.output is not None:
        ordered = str(settings["SCHEDULER"]).startswith(OURS)  # other schedulers keep no state
        try:
            _check_output(config.output, config, spider, ordered=ordered)
        except DataError as error:
            from sharc_crawler.storage.beside import without_rebuilding  # rarely needed

            raise without_rebuilding(error) from error
    elif config.resume:
        raise UsageError("SHARC_RESUME=True needs a folder to go on in: set SHARC_OUTPUT=FOLDER")
    return politeness


def _check_output(output: Path, config: Config, spider: Spider | None, *, ordered: bool) -> None:
    begun = is_begun(output)
    if begun:
        from sharc_crawler.live.setup.unfinished import (  # only if there is something to continue
            OwnSpider,
            check_output,
        )

        assert spider is not None, "a shell has no output"
        lacking = partial(lacking_method, spider=spider)
        check_output(output, OwnSpider(spider.name, bool(config.resume), lacking), config.bounds)
    if ordered and any(output.glob(f"*{SUFFIX}*")):
        from sharc_crawler.live.setup.stored_captures import has_captures  # only if something was begun
        from sharc_crawler.live.setup.unfinished import EACH_RUN

        if not begun or not has_captures(output):
            raise UsageError(
                f"output={str(output)!r} holds WARC files, and the state of their crawl is missing or"
                " empty. They stay as they are. A project's own spider cannot go on without it, as what its callbacks"
                f" ask for is in no WARC file: choose another folder, or one for each run: {EACH_RUN}"
            )
