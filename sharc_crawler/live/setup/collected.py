"""``scrapy crawl site`` with ``-a collection=``: what is said before it begins."""

from __future__ import annotations

import sys

from sharc_crawler.collection.following import begin
from sharc_crawler.report.words import printable


def begin_collection(arguments: dict[str, str]) -> None:
    """What it says as it begins."""
    for line in begin(arguments):
        sys.stderr.write(f"sharc: {printable(line)}\n")
