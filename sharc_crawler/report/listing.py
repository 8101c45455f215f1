"""The pages of a capture as rows of JSON within ``report.html``, which its script sorts, filters and opens."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from tempfile import SpooledTemporaryFile
from typing import Any

from sharc_crawler.archive.options import COLLECTION
from sharc_crawler.report.phrases import chance, founded, often
from sharc_crawler.report.words import printable, short

MOST = 100_000  #: most pages listed; coherent ones are left out first

#: beginning of a page's URL in `sharc replay FOLDER --port 8090`; the time of its visit and its URL follow
REPLAY = f"http://127.0.0.1:8090/{COLLECTION}/"

_FEW = 1 << 19  #: bytes of rows held in memory; more go to disk
_FIRST, _LAST = b"01"  #: first byte of a row's line: coherent pages come last


class Listing:
    """Collects rows as text, on disk if there are many."""

    def __init__(self) -> None:
        self._rows = SpooledTemporaryFile(_FEW)  # noqa: SIM115 - closed with this object
        self._left = {_FIRST: MOST, _LAST: MOST}
        self._files: dict[str, int] = {}

    def add(self, page: Mapping[str, Any]) -> None:
        """Add a captured page, up to :data:`MOST`."""
        kind = _LAST if page["verdict"] == "coherent" else _FIRST
        if self._left[kind]:
            self._left[kind] -= 1
            self._rows.write(b"%c%b" % (kind, self._row(page).encode("utf-8", "surrogatepass")))

    def pieces(self) -> Iterator[str]:
        """All rows as JSON, escaped so that no text can end the script element around them."""
        yield f'{{"files":{_safe(list(self._files))},"rows":['
        yield from islice((row for kind in (_FIRST, _LAST) for row in self._of(kind)), MOST)
        yield "null]}"

    def _of(self, kind: int) -> Iterator[str]:
        self._rows.seek(0)
        return (line[1:].decode("utf-8", "surrogatepass") for line in self._rows if line[0] == kind)

    def _row(self, page: Mapping[str, Any]) -> str:
        """A page's row; ``table.js`` names the columns in this order."""
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
