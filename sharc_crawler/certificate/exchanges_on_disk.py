"""The recorded exchanges of a large capture, kept on disk while they are looked up."""

from __future__ import annotations

import json
from collections.abc import Iterator

from sharc_crawler.certificate.witness import RecordedExchange
from sharc_crawler.changes.http import parse_response
from sharc_crawler.storage.scratch import Scratch


class Many:
    """Any number of exchanges, by place and by moment."""

    def __init__(self, kind: type[RecordedExchange]) -> None:
        self._kind = kind
        self._kept = Scratch()

    def add(self, place: str, one: RecordedExchange) -> None:
        """Keep an exchange, under its place and its moment."""
        self._kept.add(place, f"{one.date} {one.uri}", _packed(one))

    def __iter__(self) -> Iterator[RecordedExchange]:
        return map(self._unpacked, self._kept)

    def at(self, place: str) -> RecordedExchange | None:
        """The exchange at a place."""
        return self._unpacked(found) if (found := self._kept.first(place)) else None

    def of(self, moment: str) -> RecordedExchange | None:
        """The last exchange of a moment."""
        return self._unpacked(found) if (found := self._kept.second(moment)) else None

    def _unpacked(self, data: bytes) -> RecordedExchange:
        known = json.loads(data)
        head, holder = known["message"], known["holder"]
        known["message"] = None if head is None else parse_response(head.encode("latin-1"))
        known["holder"] = holder and (holder[0], holder[1])
        known["request"] = known["request"].encode("latin-1")
        known["notes"] = {name: value.encode("latin-1") for name, value in known["notes"].items()}
        return self._kind(**known)


def _packed(one: RecordedExchange) -> bytes:
    known = {name: getattr(one, name) for name in one.__slots__}
    known["message"] = one.message.head.decode("latin-1") if one.message else None
    known["request"] = one.request.decode("latin-1")
    known["notes"] = {name: value.decode("latin-1") for name, value in one.notes.items()}
    return json.dumps(known, separators=(",", ":")).encode()
