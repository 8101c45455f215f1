"""What certificates are made from and verified by: WARC files, lines of pages, and what lies beside them."""

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

PIECE = 1 << 20  #: bytes of a record that keeps lines in the WARC files, but for its last line


LONGEST_LINE = 1 << 26  #: bytes, of what may be packed a thousandfold; the rest of it is another line, which is none


def text_lines(stream: IO[bytes]) -> Iterator[bytes]:
    """The lines of a file, with their ends."""
    return iter(partial(stream.readline, LONGEST_LINE), b"")


class PageEntries:
    """The pages as a file has them, as often as one walks over them."""

    def __init__(self, opened: Callable[[], IO[bytes]]) -> None:
        self.opened = opened

    def __iter__(self) -> Iterator[Entry]:
        with self.opened() as stream:
            for line in text_lines(stream):
                yield json.loads(line)

    def strange(self) -> int:
        """How many lines are not written as sharc writes them: another reader might read something else there."""
        with self.opened() as stream:
            return sum(line != canonical(json.loads(line, parse_float=str)) + b"\n" for line in text_lines(stream))

    def by_revisit(self) -> Iterator[Entry]:
        """In the order of their revisits; before them those that have none."""
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
        """The file in pieces of whole lines."""
        with self.opened() as stream:
            while lines := stream.readlines(PIECE):
                yield b"".join(lines)


def write_entries(out: IO[bytes], name: str, entries: Iterable[Entry]) -> dict[str, Any]:
    """Write them; returns what a certificate states of the file."""
    made, lines, size = hashlib.sha256(), 0, 0
    for entry in entries:
        line = canonical(dict(entry)) + b"\n"
        out.write(line)
        made.update(line)
        lines, size = lines + 1, size + len(line)
    return {"name": name, "lines": lines, "bytes": size, "sha256": made.hexdigest()}


@dataclass(slots=True)
class Material:
    """What is to be verified."""

    name: str
    warcs: dict[str, Callable[[], IO[bytes]]] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    certificates: dict[str, bytes] = field(default_factory=dict)
    pages: dict[str, Callable[[], IO[bytes]]] = field(default_factory=dict)  #: files of certificates' pages
    beside: dict[str, bytes] = field(default_factory=dict)  #: signatures and time stamps of certificates
    seal: bytes | None = None  #: a WACZ file's own
    confirmation: bytes | None = None  #: where this is what a confirmation holds: what it says
    later: Material | None = None  #: what the capture's confirmation holds
    names: list[str] = field(default_factory=list)  #: of all files in a WACZ file

    def entries(self, document: Entry) -> PageEntries:
        """The pages of a certificate."""
        return PageEntries(self.pages[document["pages"]["name"]])


def visits_of(entry: Entry) -> list[Entry]:
    """What is stated of a page's downloads."""
    return [stated for _, stated in downloads_of(entry)]


def downloads_of(entry: Entry) -> Iterator[tuple[str, Entry]]:
    """What is stated of a page's downloads, and what they are called."""
    yield from ((part, entry[part]) for part in ("visit", "revisit") if entry.get(part))
    yield from (("former visit", stated) for stated in entry.get("former", ()))


def opened(path: Path) -> IO[bytes]:
    """A file, to be read."""
    return path.open("rb")
