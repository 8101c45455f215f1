"""The pages of a capture as rows of data within ``report.html``: its script sorts, filters and opens them."""

from __future__ import annotations

import json
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from sharc_crawler.archive.options import COLLECTION
from sharc_crawler.report.phrases import chance, founded, often
from sharc_crawler.report.words import printable, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MOST = 100_000  #: pages that are listed; those that need attention come before others

#: where `sharc replay FOLDER --port 8090` shows a page; what follows is the time of its visit and its URL
REPLAY = f"http://127.0.0.1:8090/{COLLECTION}/"


class Listing:
    """Rows as text, so that many are small."""

    def __init__(self) -> None:
        self._rows: dict[bool, list[str]] = {False: [], True: []}  # by: coherent
        self._files: dict[str, int] = {}

    def add(self, page: Mapping[str, Any]) -> None:
        """A captured page; one too many is left out."""
        rows = self._rows[page["verdict"] == "coherent"]
        if len(rows) < MOST:
            rows.append(self._row(page))

    def pieces(self) -> Iterator[str]:
        """All rows as JSON, escaped so that no text in them can end the script that holds it."""
        yield f'{{"files":{_safe(list(self._files))},"rows":['
        yield from islice(chain(self._rows[False], self._rows[True]), MOST)
        yield "null]}"

    def _row(self, page: Mapping[str, Any]) -> str:
        """In the order in which ``table.js`` names them."""
        truth = page["truth"]
        row = [
            printable(page.get("archived_as") or page["url"]),
            page["verdict"],
            page["content"],
            page["plan"] == "hopeless",
            page["rate"] if founded(page) else None,
            often(page["rate"], page["rate_source"]),
            short(page["rate_source"], 30) if founded(page) else "",
            self._visit(page["visit"]),
            self._visit(page["revisit"]),
            page["interval_seconds"],
            chance(page),
            truth and truth["unchanged"],
            short(page["reason"], 200),
            page["evidence"],
            printable(page["url"]) if page.get("archived_as") else None,
        ]
        return f"{_safe(row)},\n"

    def _visit(self, visit: Mapping[str, Any] | None) -> list[Any] | None:
        if visit is None:
            return None
        name, _, offset = (visit["warc"] or "").rpartition(":")
        place = [self._files.setdefault(name, len(self._files)), int(offset)] if offset.isdigit() else None
        return [visit["started"][:19], visit["result"], visit["status"], visit["length"], visit["attempts"], place]


def _safe(value: object) -> str:
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
