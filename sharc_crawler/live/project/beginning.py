"""How the session of a project's own spider begins, whose spider decides what there is to fetch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.parts import Parts
from sharc_crawler.live.setup.output import is_begun

if TYPE_CHECKING:
    from collections.abc import Collection

    from sharc_crawler.frontier.hosts import Politeness
    from sharc_crawler.live.config import Config


def hostname(url: str) -> str:
    """A host without its port, as Scrapy's downloader names its slots."""
    return urlsplit(url).hostname or ""


class Everything:
    """A scope without bounds: the project's spider has already decided."""

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


def politeness_of(config: Config, spider: str) -> Politeness:
    """The project's own middlewares and download slots see to robots and retries.

    Raises :class:`~sharc_crawler.errors.UsageError` for an output folder that cannot be gone on with.
    """
    politeness = replace(config.politeness, obey_robots=False, attempts=1)
    if config.output is not None and is_begun(config.output):
        from sharc_crawler.live.setup.unfinished import check_output  # only where there is something to go on with

        check_output(config.output, None, config.bounds, resume=bool(config.resume), spider=spider)
    elif config.output is None and config.resume:
        raise UsageError("SHARC_RESUME=True needs a folder to go on in: set SHARC_OUTPUT=FOLDER")
    return politeness
