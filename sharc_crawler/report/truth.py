"""What really happened, where somebody wrote it down: the file that ``sharc demo --truth`` writes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from sharc_crawler.errors import DataError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sharc_crawler.model import Instant
    from sharc_crawler.report.pages import Truth


def read_truth(lines: Iterable[str], name: str = "truth") -> Truth:
    """The true changes of pages, by their path, from JSON lines ``{"page", "from", "to", "changes"}``.

    The function returned gives a URL's changes in [start, end], and None where the file does not know all of them.
    Raises :class:`~sharc_crawler.errors.DataError` naming the line that cannot be read.

    >>> truth = read_truth(['{"page": "/a", "from": 0, "to": 100, "changes": [7.0, 50.0]}'])
    >>> truth("http://site.example/a", 5.0, 20.0), truth("http://site.example/a", 5.0, 200.0)
    ((7.0,), None)
    """
    known: dict[str, tuple[Instant, Instant, tuple[Instant, ...]]] = {}
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            known[entry["page"]] = float(entry["from"]), float(entry["to"]), tuple(map(float, entry["changes"]))
        except (ValueError, TypeError, KeyError) as error:
            what = '{"page": "/path", "from": 1795690000.0, "to": 1795690060.0, "changes": [1795690017.5]}'
            raise DataError(
                f"{name}, line {number} is no page with its true changes; each line is, with times in unix seconds, as"
                f" {what} (sharc demo --truth writes such)"
            ) from error

    def truth(url: str, start: Instant, end: Instant) -> tuple[Instant, ...] | None:
        first, last, changes = known.get(urlsplit(url).path, (start, start - 1.0, ()))
        if first > start or last < end:
            return None
        return tuple(change for change in changes if start <= change <= end)

    return truth
