"""| ``scrapy crawl`` outside of a project: says what to do instead."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from scrapy.commands.crawl import Command as CrawlCommand

if TYPE_CHECKING:
    import argparse

_NONE = "no Scrapy project here, and SCRAPY_SETTINGS_MODULE is not set: there is no spider to run"


class NoProjectCommand(CrawlCommand):
    """Says where a crawl's settings come from."""

    def short_desc(self) -> str:
        """Scrapy lists commands with it."""
        return "Run a spider (in a project, or with SCRAPY_SETTINGS_MODULE)"

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:  # noqa: ARG002
        """Scrapy calls this before anything is begun."""
        command = shlex.join(["scrapy", "crawl", *sys.argv[1:]])
        sys.stderr.write(
            f"sharc: error: {_NONE}.\n"
            f"To capture a site: SCRAPY_SETTINGS_MODULE=sharc_crawler.live.profile {command}\n"
            "To run a spider of your own: give the command in the folder that holds scrapy.cfg\n"
        )
        sys.exit(2)
