"""What certificates are made from and verified with: WARC files, files of pages, signatures and time stamps."""

from __future__ import annotations

import hashlib
import json
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from sharc_crawler.certificate.canonical import canonical
from sharc_crawler.instants import unix

if TYPE_CHECKING:
    Entry = Mapping[str, Any]

PIECE = 1 << 20  #: bytes of pages in one WARC record, before its last line


LONGEST_LINE = 1 << 26  #: bytes: what is packed may unpack to any length; longer lines are split, and so invalid


def text_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file, with their ends."""
    return iter(partial(stream.readline, LONGEST_LINE), b"")


class PageEntries:
    """The pages in a file, read anew on each iteration."""

    def __init__(self, opened: Callable[[], IO[bytes]]) -> None:
        self.opened = opened

    def __iter__(self) -> Iterator[Entry]:
        with self.opened() as stream:
            for line in text_lines(stream):
                yield json.loads(line)

    def strange(self) -> int:
        """How many lines are not canonical JSON: other readers might understand them differently."""
        with self.opened() as stream:
            return sum(line != canonical(json.loads(line, parse_float=str)) + b"\n" for line in text_lines(stream))

    def by_revisit(self) -> Iterator[Entry]:
        """Pages without a revisit first, then the others by the time of their revisit."""
        places, dates = array("q"), array("d")
        place = 0
        with self.opened() as stream:
            for line in text_lines(stream):
                revisit = json.loads(line).get("revisit")
                places.append(place)
                dates.append(unix(revisit["date"]) if revisit else 0.0)
                place += len(line)
            for number in sorted(range(len(dates)), key=dates.__getitem__):
                stream.seek(places[number])
                yield json.loads(stream.readline())

    def pieces(self) -> Iterator[bytes]:
        """The file in pieces of about :data:`PIECE` bytes, each of whole lines."""
        with self.opened() as stream:
            while lines := stream.readlines(PIECE):
                yield b"".join(lines)


def write_entries(out: IO[bytes], name: str, entries: Iterable[Entry]) -> dict[str, Any]:
    """Write entries to a file; returns name, lines, bytes and sha256, as a certificate states them."""
    made, lines, size = hashlib.sha256(), 0, 0
    for entry in entries:
        line = canonical(dict(entry)) + b"\n"
        out.write(line)
        made.update(line)
        lines, size = lines + 1, size + len(line)
    return {"name": name, "lines": lines, "bytes": size, "sha256": made.hexdigest()}


@dataclass(slots=True)
class Material:
    """The files of a capture that are verified: by name, content or a function that opens it."""

    name: str
    warcs: dict[str, Callable[[], IO[bytes]]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    certificates: dict[str, bytes] = field(default_factory=dict)
    pages: dict[str, Callable[[], IO[bytes]]] = field(default_factory=dict)  #: files of certificates' pages
    beside: dict[str, bytes] = field(default_factory=dict)  #: signatures and time stamps of certificates
    seal: bytes | None = None  #: a WACZ file's ``datapackage-digest.json``
    confirmation: bytes | None = None  #: ``confirmation.json``, if these are the files of a confirmation
    later: Material | None = None  #: the files of the capture's confirmation
    names: list[str] = field(default_factory=list)  #: of all files in a WACZ file

    def entries(self, document: Entry) -> PageEntries:
        """The pages of a certificate."""
        return PageEntries(self.pages[document["pages"]["name"]])


def visits_of(entry: Entry) -> list[Entry]:
    """What a certificate states of each of a page's downloads."""
    return [stated for _, stated in downloads_of(entry)]


def downloads_of(entry: Entry) -> Iterator[tuple[str, Entry]]:
    """As :func:`visits_of`, each with its name: visit, revisit or former visit."""
    yield from ((part, entry[part]) for part in ("visit", "revisit") if entry.get(part))
    yield from (("former visit", stated) for stated in entry.get("former", ()))


def opened(path: Path) -> IO[bytes]:
    """Open a file for reading."""
    return path.open("rb")
