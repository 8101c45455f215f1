"""What WARC files say themselves: every exchange in them, with digests made anew from the bytes."""

from __future__ import annotations

import re
from base64 import b64decode
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING

from sharc_crawler.archive.members import Damage, Record, records
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.http import HttpResponse, parse_response
from sharc_crawler.coding import decoded

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    Place = tuple[str, int]  #: file, offset
    Moment = tuple[str, str]  #: target URI, WARC-Date

_NOTE = re.compile(rb"^([A-Za-z0-9-]+): (.*?)\r?$", re.MULTILINE)
MAIN = ("response", "revisit")


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as it was stated."""

    what: str
    file: str | None = None
    offset: int | None = None
    url: str | None = None

    def __str__(self) -> str:
        """Where, of what, what."""
        place = self.file if self.offset is None else f"{self.file}:{self.offset}"
        return ": ".join(part for part in (place, self.url, self.what) if part)


@dataclass(slots=True)
class RecordedExchange:
    """An exchange as its records tell it."""

    file: str
    offset: int
    kind: str  #: response, revisit, or metadata where there was no response
    uri: str
    date: str
    message: HttpResponse | None  #: head (and body, not kept here) of the answer
    digest: str | None  #: of the payload: made anew, or of a revisit record as stated there
    decoded: str | None = None  #: of the unpacked payload, where it is packed (``Content-Encoding``)
    whole: bool = True  #: not truncated
    profile: str = ""
    holder: Moment | None = None  #: where a revisit record's payload lies
    record: str = ""  #: WARC-Record-ID
    holder_record: str | None = None  #: that of the holder, where it is said
    closed: bool = False  #: payloads lie in this capture alone, by the ``warcinfo`` of its file
    normalised: bool = False  #: not from the wire: the request may not be known
    request: bytes = b""
    notes: dict[str, bytes] = field(default_factory=dict)


@dataclass(slots=True)
class Witness:
    """All exchanges of some WARC files."""

    exchanges: dict[Place, RecordedExchange] = field(default_factory=dict)
    moments: dict[Moment, RecordedExchange] = field(default_factory=dict)
    documents: dict[Place, bytes] = field(default_factory=dict)  #: metadata records that are no exchange's notes
    kinds: dict[str, list[tuple[int, str]]] = field(default_factory=dict)  #: file → its records' offsets and kinds
    findings: list[Finding] = field(default_factory=list)
    records: int = 0

    def find(self, file: str | None, offset: int | None, moment: Moment) -> RecordedExchange | None:
        """The exchange at a place, or, where files were written anew, of a moment."""
        found = self.exchanges.get((file or "", -1 if offset is None else offset))
        return found if found and (found.uri, found.date) == moment else self.moments.get(moment, found)


def ingest(warcs: Mapping[str, Callable[[], IO[bytes]]], told: Callable[[int], None] = lambda _: None) -> Witness:
    """Read WARC files to their ends. ``told`` is given the number of bytes of each record as it is read."""
    witness = Witness()
    for name, opened in warcs.items():
        with opened() as stream:
            _read(stream, name, witness, told)
    return witness


def _read(stream: IO[bytes], name: str, witness: Witness, told: Callable[[int], None]) -> None:
    by_id: dict[
        str, tuple[RecordedExchange, Record]
    ] = {}  #: of this file: what belongs to an exchange is written with it
    closed = False
    kinds = witness.kinds.setdefault(name, [])
    for record in records(stream):
        if isinstance(record, Damage):
            witness.findings.append(Finding(f"no whole record here: {record.reason}", name, record.offset))
            continue
        witness.records += 1
        kinds.append((record.offset, record.kind))
        told(record.length)
        witness.findings += _altered(record, name)
        owner = record.get("WARC-Concurrent-To")
        if record.kind == "warcinfo":
            closed = b"\ndeduplication: site" not in record.block
        elif owner is not None:
            if owner in by_id:
                exchange, main = by_id[owner]
                _add(exchange, record)
                witness.findings += _apart(main, record, name)
            else:
                what = "the record that it belongs to is missing"
                witness.findings.append(Finding(what, name, record.offset, record.get("WARC-Target-URI")))
        elif (found := _exchange(record, name, closed=closed)) is not None:
            exchange = found
            by_id = {exchange.record: (exchange, record)}
            witness.findings += _mislabelled(exchange, record)
            witness.exchanges[name, record.offset] = witness.moments[exchange.uri, exchange.date] = exchange
        elif record.kind == "metadata":
            witness.documents[name, record.offset] = record.block


def _altered(record: Record, name: str) -> list[Finding]:
    stated = record.get("WARC-Block-Digest")
    if stated in (None, labelled_digest(record.block)):
        return []
    return [Finding("its block is not what its digest says", name, record.offset, record.get("WARC-Target-URI"))]


def _mislabelled(exchange: RecordedExchange, main: Record) -> list[Finding]:
    """``exchange.digest`` is that of the payload, made anew."""
    stated = main.get("WARC-Payload-Digest")
    if stated in (None, exchange.digest):
        return []
    return [Finding("its payload is not what its digest says", exchange.file, exchange.offset, exchange.uri)]


def _apart(main: Record, record: Record, name: str) -> Iterator[Finding]:
    """All records of an exchange carry its URL, its instant and its address."""
    for part in ("WARC-Target-URI", "WARC-Date", "WARC-IP-Address"):
        if main.get(part) != record.get(part):
            what = f"its {part} is {record.get(part)}, that of the record it belongs to is {main.get(part)}"
            yield Finding(what, name, record.offset, record.get("WARC-Target-URI"))


def _exchange(record: Record, name: str, *, closed: bool) -> RecordedExchange | None:
    failed = record.kind == "metadata" and record.get("Content-Type") == "application/warc-fields"
    if record.kind not in MAIN and not failed:
        return None
    message = parse_response(record.block) if record.kind in MAIN else None
    response = record.kind == "response" and message is not None
    exchange = RecordedExchange(
        file=name,
        offset=record.offset,
        kind=record.kind,
        uri=record.get("WARC-Target-URI") or "",
        date=record.get("WARC-Date") or "",
        message=_head(message),
        digest=message.digest if response and message else record.get("WARC-Payload-Digest"),
        decoded=_decoded(message) if response and message else None,
        whole=record.kind != "response" or (record.get("WARC-Truncated") is None and not _short(message)),
        profile=(record.get("WARC-Profile") or "").rpartition("/")[2],
        holder=(record.get("WARC-Refers-To-Target-URI") or "", record.get("WARC-Refers-To-Date") or "")
        if record.kind == "revisit"
        else None,
        record=record.get("WARC-Record-ID") or "",
        holder_record=record.get("WARC-Refers-To"),
        closed=closed,
        normalised=record.get("Sharc-Normalised") is not None,
    )
    if failed:
        _add(exchange, record)
    return exchange


def _short(message: HttpResponse | None) -> bool:
    """Is its body shorter than it says? 204 and 304 have none, whatever they say (RFC 9110, 8.6)."""
    if message is None or message.status in {204, 304}:
        return False
    said = message.header(b"content-length") if not message.chunked else None
    return said is not None and said.isdigit() and len(message.payload) < int(said)


def _decoded(message: HttpResponse) -> str | None:
    codings = message.values(b"content-encoding")
    body = decoded(message.payload, codings) if codings else None
    return None if body is None else labelled_digest(body)


def _head(message: HttpResponse | None) -> HttpResponse | None:
    """The answer without its body, so that a large capture fits into memory."""
    return parse_response(message.head) if message is not None else None


def _add(exchange: RecordedExchange, record: Record) -> None:
    if record.kind == "request":
        exchange.request = record.block.partition(b"\r\n\r\n")[0]
    else:
        exchange.notes.update((name.decode(), value) for name, value in _NOTE.findall(record.block))
        if "http-response-base64" in exchange.notes:
            exchange.message = parse_response(b64decode(exchange.notes["http-response-base64"]))
