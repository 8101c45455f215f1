"""| Checks the installed Scrapy, to say what to install instead of failing with an import error."""

from __future__ import annotations

from importlib import import_module

from scrapy import __version__ as scrapy_version
from scrapy import version_info
from twisted import __version__ as twisted_version

from sharc_crawler.errors import UsageError

OLDEST = (2, 15)  #: before it a download's errors are Twisted's own, and Scrapy's handlers return no coroutines
TESTED = "2.15 to 2.19"


def require_scrapy() -> None:
    """Raise UsageError if Scrapy is too old, or lacks a name that we use."""
    installed = f"Scrapy {scrapy_version} with Twisted {twisted_version}"
    if tuple(version_info[:2]) < OLDEST:
        raise UsageError(f"{installed} is too old for sharc-crawler: pip install 'scrapy>={OLDEST[0]}.{OLDEST[1]}'")
    try:
        for module in ("wire.handler", "beginning"):
            import_module(f"sharc_crawler.live.{module}")
        lacking = ", ".join(import_module("sharc_crawler.live.private").missing())
    except (ImportError, AttributeError) as error:
        lacking = str(error)
    if lacking:
        raise UsageError(
            f"{installed} has not what sharc-crawler builds on ({lacking}); it is tested with Scrapy {TESTED}:"
            f" pip install 'scrapy=={TESTED.rpartition(' ')[2]}.*', or a newer sharc-crawler"
        )
