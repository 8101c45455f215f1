"""Read back all exchanges of a crawl from its WARC files, in the order in which they began."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.members import Record, read_at, records
from sharc_crawler.changes.http import HttpResponse, classify, parse_response
from sharc_crawler.instants import unix
from sharc_crawler.model import CaptureRef, Instant, Result

if TYPE_CHECKING:
    from sharc_crawler.archive.former_answers import FormerAnswer
    from sharc_crawler.bodies.spool import Octets

_NOT_MODIFIED = "server-not-modified"
_HEAD = re.compile(rb"^http-response-base64: (.*?)\r?$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ArchivedExchange:
    """An exchange, and the place of its main record."""

    ref: CaptureRef
    url: str
    started: Instant
    answered: bool  #: there was an answer
    failed: bool  #: there was none, or one with a failing status: it may have been tried again
    not_modified: bool  #: the server answered 304
    digest: str | None  #: of its payload
    truncated: bool  #: the answer was not received completely
    stored: bool  #: its own record holds its payload

    @property
    def confirms(self) -> bool:
        """Did the server say that it is as in a former capture?"""
        return self.not_modified and self.digest is not None


def archived(folder: Path, files: str = f"*{SUFFIX}") -> list[ArchivedExchange]:
    """All exchanges in a folder's ``files``, in the order in which they began; damaged records are left out."""
    found = (one for path in sorted(folder.glob(files)) for one in _archived(path))
    return sorted(found, key=lambda one: one.started)


def _archived(path: Path) -> Iterator[ArchivedExchange]:
    with path.open("rb") as stream:
        for record in records(stream):
            if isinstance(record, Record) and (one := _exchange(path.name, record)):
                yield one


def _exchange(file: str, record: Record) -> ArchivedExchange | None:
    url, date = record.get("WARC-Target-URI"), record.get("WARC-Date")
    failed = record.kind == "metadata" and not record.get("WARC-Concurrent-To") and b"error: " in record.text
    if not (failed or record.kind in ("response", "revisit")) or not url or not date:
        return None
    whole = record.kind == "response"
    return ArchivedExchange(
        CaptureRef(file, record.offset, record.length), url, unix(date), not failed,
        failed or _unavailable(record.block), (record.get("WARC-Profile") or "").endswith(_NOT_MODIFIED),
        record.get("WARC-Payload-Digest"), whole and bool(record.get("WARC-Truncated")), whole,
    )  # fmt: skip


def _unavailable(block: Octets) -> bool:
    message = parse_response(block)
    return message is not None and classify(message.status, None) is Result.FAILED


class Answers:
    """Reads the answers of exchanges, with payloads from whatever record stores them."""

    def __init__(
        self, folder: Path, every: list[ArchivedExchange], former: Callable[[str], FormerAnswer | None] = lambda _: None
    ) -> None:
        self._folder = folder
        self._former = former  # finds a URL's answer in former captures
        self._holders = {one.digest: one.ref for one in reversed(every) if one.digest and one.stored}

    def error(self, one: ArchivedExchange) -> str:
        """Why an exchange had no answer."""
        lines = self._record(one.ref).text.decode("utf-8", "replace").split("\r\n")
        return next((line.removeprefix("error: ") for line in lines if line.startswith("error: ")), "no response")

    def message(self, one: ArchivedExchange) -> HttpResponse | None:
        """The answer; ``None``: it cannot be parsed."""
        record = self._record(one.ref)
        block = record.block
        if record.kind == "revisit":
            holder = self._holder(one)
            block = record.text + (holder.raw[holder.body_start :] if holder else b"")
        return parse_response(block)

    def _holder(self, one: ArchivedExchange) -> HttpResponse | None:
        """The answer that stores a revisit record's payload."""
        if one.digest in self._holders:
            return parse_response(self._record(self._holders[one.digest]).block)
        found = self._former(one.url)
        return found.message if found and found.original.digest == one.digest else None

    def noted(self, one: ArchivedExchange) -> HttpResponse | None:
        """The head of a 304, which is kept in the exchange's notes."""
        with (self._folder / one.ref.file).open("rb") as stream:
            for record in islice(records(stream, one.ref.offset), 1, 3):  # its request, its notes
                if isinstance(record, Record) and (found := _HEAD.search(record.text)):
                    return parse_response(b64decode(found[1]))
        return None

    def _record(self, ref: CaptureRef) -> Record:
        with (self._folder / ref.file).open("rb") as stream:
            found = read_at(stream, ref.offset)
        assert isinstance(found, Record), "it was read before"
        return found
