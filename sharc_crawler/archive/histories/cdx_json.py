"""JSON answers of CDX servers: Wayback's array of rows (its JSON TimeMap too), pywb's object per line.

A truncated answer is used as far as its lines are whole.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from sharc_crawler.archive.histories.cdx import append_record

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from sharc_crawler.archive.histories.gathering import Gathering

_NAMES = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]
_BETWEEN = " \t\r\n,"


def read_rows(text: bytes, file: str, gathering: Gathering) -> None:
    """Append the captures of an array of rows. The first names the fields; after an empty one comes the resume key."""
    names, empty = _NAMES, False
    for number, row in _rows(text.decode("utf-8", "replace"), file, gathering):
        if not row:
            empty = True
        elif "timestamp" in row:
            names = row
        elif empty and len(row) == 1:
            gathering.resume_key = str(row[0])
        else:
            record = dict(zip(names, row, strict=True)) if len(row) == len(names) else None
            _append(record, file, number, gathering)


def read_objects(lines: Iterable[bytes], file: str, gathering: Gathering) -> None:
    """Append the captures of an answer with an object per line."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            record = json.loads(line)
        except ValueError:
            record = None
        _append(record if isinstance(record, dict) else None, file, number, gathering)


def _append(record: dict[str, Any] | None, file: str, number: int, gathering: Gathering) -> None:
    try:
        if record is None:
            raise ValueError("not a record of the named fields")
        append_record(record, gathering)
    except ValueError as error:
        gathering.problems.add(file, number, str(error))


def _rows(text: str, file: str, gathering: Gathering) -> Iterator[tuple[int, list[Any]]]:
    """The arrays inside the outer one, each with the line it starts on; what is none is a problem."""
    decode = json.JSONDecoder().raw_decode
    line, end = 1, text.find("[") + 1
    while (start := text.find("[", end)) >= 0:
        if text[end:start].strip(_BETWEEN):
            gathering.problems.add(file, line, "not an array")
        line += text.count("\n", end, start)
        try:
            row, after = decode(text, start)
            yield line, row
        except ValueError:
            gathering.problems.add(file, line, "not JSON")
            after = start + 1 + len(text[start + 1 :].partition("\n")[0])
        line += text.count("\n", start, after)
        end = after
    if text[end:].strip() != "]":
        gathering.problems.add(file, line, "cut short")
