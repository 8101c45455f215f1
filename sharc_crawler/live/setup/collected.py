"""``scrapy crawl site`` with ``-a collection=``: what is said before it begins."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sharc_crawler.collection.following import begin
from sharc_crawler.errors import DataError
from sharc_crawler.report.words import printable

if TYPE_CHECKING:
    from collections.abc import Mapping


def begin_collection(arguments: dict[str, str]) -> None:
    """What it says as it begins."""
    for line in begin(arguments):
        sys.stderr.write(f"sharc: {printable(line)}\n")


def with_way_out(error: DataError, arguments: Mapping[str, str]) -> DataError:
    """Of a history that is damaged: that of a collection can be made again."""
    if "collection" not in arguments:
        return error
    anew, captures = f"{arguments['collection']}-anew", f"{arguments['collection']}/captures/*/*"
    return DataError(f"{error}; the captures still tell all of it: sharc collection add {anew} {captures}")
