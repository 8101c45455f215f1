"""Read all exchanges from WARC files, with digests computed from the bytes."""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import IO, TYPE_CHECKING, NamedTuple

from sharc_crawler.archive.members import Damage, Record, records
from sharc_crawler.archive.options import FORMER
from sharc_crawler.archive.records import FORMER_TYPE, FORMER_UNPACKED, HTTP_REQUEST, HTTP_RESPONSE, PROFILE, WITHHELD
from sharc_crawler.bodies.spool import pieces
from sharc_crawler.changes.digest import digest_of, labelled_digest
from sharc_crawler.changes.http import HttpResponse, parse_response

if TYPE_CHECKING:
    from sharc_crawler.certificate.exchanges_on_disk import Many

    Place = tuple[str, int]  #: file, offset
    Moment = tuple[str, str]  #: target URI, WARC-Date

_TYPES = {"response": HTTP_RESPONSE, "revisit": HTTP_RESPONSE, "request": HTTP_REQUEST}
_COMMON = {"WARC-Type", "WARC-Record-ID", "WARC-Date", "WARC-Target-URI", "WARC-IP-Address", "Sharc-Normalised"} | {
    "WARC-Warcinfo-ID",
    "WARC-Block-Digest",
    "Content-Type",
    "Content-Length",
}
_REFERS = {"WARC-Profile", "WARC-Refers-To-Target-URI", "WARC-Refers-To-Date", "WARC-Refers-To"}
_FIELDS = {
    "response": _COMMON | {"WARC-Payload-Digest", "WARC-Truncated"},
    "revisit": _COMMON | _REFERS | {"WARC-Payload-Digest", "WARC-Truncated", FORMER_TYPE, FORMER_UNPACKED},
    "request": _COMMON | {"WARC-Concurrent-To"},
}
SERVERS_WORD = "server-not-modified"  #: profile of a revisit record for a 304
_SAME_PAYLOAD, _SERVERS_WORD = f"{PROFILE}identical-payload-digest", f"{PROFILE}{SERVERS_WORD}"


def misformed(record: Record) -> Iterator[str]:
    """What is wrong with the fields of a response, revisit or request record; other records are passed over.

    >>> from sharc_crawler.archive.members import Record
    >>> list(misformed(Record(0, 9, (("WARC-Type", "request"), ("Content-Type", HTTP_REQUEST)), b"GET /")))
    ['it has no WARC-Target-URI and no WARC-Date', 'its block has no digest']
    """
    if record.kind not in _TYPES:
        return
    if lacks := [name for name in ("WARC-Target-URI", "WARC-Date") if not record.get(name)]:
        yield f"it has no {' and no '.join(lacks)}"
    if more := [name for name, _ in record.fields if name not in _FIELDS[record.kind]]:
        yield f"{', '.join(more)}: no field of a {record.kind} record of ours"
    if record.block and record.get("WARC-Block-Digest") is None:
        yield "its block has no digest"
    if record.block and record.get("Content-Type") != _TYPES[record.kind]:
        yield f"its Content-Type is {record.get('Content-Type')}, that of a {record.kind} is {_TYPES[record.kind]}"
    if record.kind == "response" and record.get("WARC-Payload-Digest") is None:
        yield "its payload has no digest"
    if record.kind == "revisit":
        yield from _misformed_revisit(record)


def _misformed_revisit(record: Record) -> Iterator[str]:
    """A revisit for an equal payload must have headers and no body; one for a 304 must have no block."""
    profile = record.get("WARC-Profile")
    if profile not in (_SAME_PAYLOAD, _SERVERS_WORD):
        yield f"it is a revisit of the profile {profile}"
    elif profile == _SERVERS_WORD:
        if record.block:
            yield "a revisit for a 304 has no block; what was answered is noted beside it"
    else:
        message = parse_response(record.block)
        if message is None or len(message.head) < len(record.block):
            yield "a revisit for an equal payload has headers, and nothing else"
        if record.get("WARC-Truncated") != "length":
            yield "a revisit for an equal payload is one that was cut to its headers"


_NOTE = re.compile(rb"^([A-Za-z0-9-]+): (.*?)\r?$", re.MULTILINE)
MAIN = ("response", "revisit")
RESOURCE = "resource"
_ABOUT_PAGES = re.compile(r"urn:(?:view|text|pageinfo):https?://\S+")  #: URIs of resources that a crawl makes
_OURS = (*MAIN, "warcinfo", "request", "metadata", RESOURCE)
FEW = 1_000  #: exchanges held in memory; more go to disk
_DIGITS = 100  #: most digits of a length; Python refuses thousands
_HEAD = b"\x1f\x8b\x08" + bytes(5)  #: start of each gzip member: no name, comment or time


@dataclass(frozen=True, slots=True)
class Finding:
    """Something that is not as stated, and where."""

    what: str
    file: str | None = None
    offset: int | None = None
    url: str | None = None

    def __str__(self) -> str:
        """Place, URL and what is wrong, as far as they are known."""
        place = self.file if self.offset is None else f"{self.file}:{self.offset}"
        return ": ".join(part for part in (place, self.url, self.what) if part)


@dataclass(slots=True)
class RecordedExchange:
    """An exchange as read from its records."""

    file: str
    offset: int
    kind: str  #: response, revisit, or metadata where there was no response
    uri: str
    date: str
    message: HttpResponse | None  #: the answer without its body
    digest: str | None  #: of the payload: computed, or for a revisit record as stated there
    decoded: str | None = None  #: digest of the unpacked payload, if it has a ``Content-Encoding``
    whole: bool = True  #: is the answer not truncated?
    profile: str = ""
    holder: Moment | None = None  #: which record holds a revisit record's payload
    record: str = ""  #: WARC-Record-ID
    holder_record: str | None = None  #: the holder's WARC-Record-ID, if stated
    media_type: str | None = None  #: the whole ``Content-Type`` of a former capture's answer that a 304 refers to
    closed: bool = False  #: does its capture store all payloads itself, by the ``warcinfo`` of its file?
    rebuilt: bool = False  #: made from what another download handler returned, not from the wire
    request: bytes = b""
    notes: dict[str, bytes] = field(default_factory=dict)


class RecordedDocument(NamedTuple):
    """A metadata record that does not belong to an exchange."""

    uri: str
    sha256: str  #: of its block


class Witness:
    """All exchanges of some WARC files; more than :data:`FEW` are kept on disk."""

    def __init__(self) -> None:
        self._few: dict[str, RecordedExchange] = {}  # by place: those not on disk
        self._moments: dict[str, RecordedExchange] = {}  # the same, by moment
        self._many: Many | None = None
        self.documents: dict[Place, RecordedDocument] = {}
        self.findings: list[Finding] = []
        self.records = 0

    def add(self, exchange: RecordedExchange) -> None:
        """Add an exchange."""
        if len(self._few) >= FEW:
            from sharc_crawler.certificate.exchanges_on_disk import Many  # of a large capture

            self._many = self._many or Many(RecordedExchange)
            for place, one in self._few.items():
                self._many.add(place, one)
            self._few, self._moments = {}, {}
        self._few[f"{exchange.file}:{exchange.offset}"] = exchange
        self._moments[f"{exchange.date} {exchange.uri}"] = exchange

    def __iter__(self) -> Iterator[RecordedExchange]:
        yield from self._many or ()
        yield from self._few.values()

    def at(self, place: str) -> RecordedExchange | None:
        """The exchange at a place, ``file:offset``."""
        return self._few.get(place) or (self._many.at(place) if self._many else None)

    def of(self, moment: Moment) -> RecordedExchange | None:
        """The last exchange of a URL and instant."""
        named = f"{moment[1]} {moment[0]}"
        return self._moments.get(named) or (self._many.of(named) if self._many else None)

    def find(self, file: str | None, offset: int | None, moment: Moment) -> RecordedExchange | None:
        """The exchange at a place, or, if files were rewritten, of a moment."""
        found = self.at(f"{file}:{offset}")
        return found if found and (found.uri, found.date) == moment else self.of(moment) or found


def ingest(
    warcs: Mapping[str, Callable[[], IO[bytes]]],
    progress: Callable[[int], None] = lambda _: None,
    into: Witness | None = None,
    met: Callable[[str, int, str], object] = lambda *_: None,
) -> Witness:
    """Read WARC files. ``progress`` is given their size twice: as they are read, and as digests are computed.

    ``met`` is called with file, offset and kind of each record.
    """
    witness = into or Witness()
    for name, opened in warcs.items():
        with opened() as stream:
            _read(stream, name, witness, progress, met)
    return witness


def _read(
    stream: IO[bytes],
    name: str,
    witness: Witness,
    progress: Callable[[int], None],
    met: Callable[[str, int, str], object],
) -> None:
    last: tuple[RecordedExchange, Record] | None = None  #: an exchange's records follow each other
    closed = False
    for record in records(stream, progress=progress):
        if isinstance(record, Damage):
            witness.findings.append(Finding(f"no whole record here: {record.reason}", name, record.offset))
            continue
        witness.records += 1
        met(name, record.offset, record.kind)
        witness.findings += _altered(record, name, progress)
        witness.findings += _strange(record, stream, name)
        url = record.get("WARC-Target-URI")
        witness.findings += [Finding(what, name, record.offset, url) for what in misformed(record)]
        owner = record.get("WARC-Concurrent-To")
        if record.kind == "warcinfo":
            closed = not any(b"\ndeduplication: %s\r" % kind.encode() in record.text for kind in FORMER)
        elif owner is not None:
            if last and owner == last[0].record:
                witness.findings += _too_much(last[0], record, name)
                _add(last[0], record)
                last[0].whole |= _to_head(*last)
                witness.findings += _apart(last[1], record, name)
            else:
                witness.findings.append(Finding("the record that it belongs to is missing", name, record.offset, url))
        elif (found := _exchange(record, name, closed=closed)) is not None:
            if last:
                witness.add(last[0])
            last = found, record
            witness.findings += _mislabelled(found, record)
        elif record.kind == "metadata":
            sha256 = hashlib.sha256(record.text).hexdigest()
            witness.documents[name, record.offset] = RecordedDocument(record.get("WARC-Target-URI") or "", sha256)
    if last:
        witness.add(last[0])


def _altered(record: Record, name: str, progress: Callable[[int], None]) -> list[Finding]:
    if record.get("WARC-Block-Digest") in {None, digest_of(_reporting(record, progress))}:
        return []
    return [Finding("its block is not what its digest says", name, record.offset, record.get("WARC-Target-URI"))]


def _reporting(record: Record, progress: Callable[[int], None]) -> Iterator[bytes | memoryview]:
    """The block in pieces; ``progress`` is given the record's packed length, as they are taken."""
    rest, left = len(record.block), record.length
    for piece in pieces(record.block):
        yield piece
        progress(part := left * len(piece) // rest if rest else left)
        rest, left = rest - len(piece), left - part


def _strange(record: Record, stream: IO[bytes], name: str) -> Iterator[Finding]:
    """What readers treat differently: unknown kinds, fields given twice, text in a gzip member's head."""
    url = record.get("WARC-Target-URI")
    if record.kind not in _OURS:
        yield Finding(f"a {record.kind} record, which no capture of ours has", name, record.offset, url)
    if record.kind == RESOURCE and not _ABOUT_PAGES.fullmatch(url or ""):
        yield Finding("a resource record, which would be shown in place of a download", name, record.offset, url)
    fields = [field.lower() for field, _ in record.fields]
    if len(set(fields)) < len(fields):
        twice = [field for field, number in Counter(fields).items() if number > 1]
        yield Finding(f"its {', '.join(twice)} is given twice", name, record.offset, url)
    stream.seek(record.offset)
    if stream.read(len(_HEAD)) != _HEAD:
        yield Finding("its gzip member says more than that it is one", name, record.offset, url)


def _mislabelled(exchange: RecordedExchange, main: Record) -> list[Finding]:
    """A wrong payload digest; ``exchange.digest`` was computed from the payload."""
    if main.get("WARC-Payload-Digest") in {None, exchange.digest}:
        return []
    return [Finding("its payload is not what its digest says", exchange.file, exchange.offset, exchange.uri)]


def _too_much(exchange: RecordedExchange, record: Record, name: str) -> Iterator[Finding]:
    """Second requests or notes of an exchange, and notes of an answer that has its own record."""
    second = exchange.request if record.kind == "request" else exchange.kind in MAIN and exchange.notes
    if second:
        yield Finding(f"a second {record.kind} record of one exchange", name, record.offset, exchange.uri)
    if exchange.message is not None and b"http-response-base64:" in record.text and record.kind == "metadata":
        yield Finding("its answer is noted, though it has a record", name, record.offset, exchange.uri)


def _apart(main: Record, record: Record, name: str) -> Iterator[Finding]:
    """Fields that differ between the records of an exchange: URL, instant and address."""
    for part in ("WARC-Target-URI", "WARC-Date", "WARC-IP-Address"):
        if main.get(part) != record.get(part):
            what = f"its {part} is {record.get(part)}, that of the record it belongs to is {main.get(part)}"
            yield Finding(what, name, record.offset, record.get("WARC-Target-URI"))


def _exchange(record: Record, name: str, *, closed: bool) -> RecordedExchange | None:
    failed = record.kind == "metadata" and record.get("Content-Type") == "application/warc-fields"
    if (record.kind not in MAIN and not failed) or not record.get("WARC-Date"):
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
        whole=record.kind != "response" or (record.get("WARC-Truncated") is None and not _short(message)),
        profile=(record.get("WARC-Profile") or "").rpartition("/")[2],
        holder=(record.get("WARC-Refers-To-Target-URI") or "", record.get("WARC-Refers-To-Date") or "")
        if record.kind == "revisit"
        else None,
        record=record.get("WARC-Record-ID") or "",
        holder_record=record.get("WARC-Refers-To"),
        media_type=record.get(FORMER_TYPE),
        decoded=_decoded(message) if response and message else record.get(FORMER_UNPACKED),
        closed=closed,
        rebuilt=record.get("Sharc-Normalised") not in (None, WITHHELD),
    )
    if failed:
        _add(exchange, record)
    return exchange


def _to_head(exchange: RecordedExchange, main: Record) -> bool:
    """Is it an answer to HEAD? Its Content-Length is that of an answer to GET (RFC 9110, 9.3.2)."""
    whole = main.kind == "response" and main.get("WARC-Truncated") is None
    return whole and exchange.request.startswith(b"HEAD ") and exchange.digest == labelled_digest(b"")


def _short(message: HttpResponse | None) -> bool:
    """Is the body shorter than its Content-Length? 204 and 304 never have a body (RFC 9110, 8.6)."""
    if message is None or message.chunked or message.status in {204, 304}:
        return False
    said = message.header(b"content-length") or b""
    return said.isdigit() and (len(said) > _DIGITS or len(message.payload) < int(said))


def _decoded(message: HttpResponse) -> str | None:
    if not message.header(b"content-encoding"):
        return None
    from sharc_crawler.changes.packed import digest_unpacked  # only where payloads are packed

    return digest_unpacked(message)


def _head(message: HttpResponse | None) -> HttpResponse | None:
    """The answer without its body, to save memory."""
    return parse_response(message.head) if message is not None else None


def _add(exchange: RecordedExchange, record: Record) -> None:
    if record.kind == "request":
        exchange.request = record.text.partition(b"\r\n\r\n")[0]
    else:
        exchange.notes.update((name.decode(), value) for name, value in _NOTE.findall(record.text))
        if "http-response-base64" in exchange.notes:
            exchange.message = _head(parse_response(b64decode(exchange.notes["http-response-base64"])))


def has_content(exchange: RecordedExchange) -> bool:
    """Was it answered with a status 2xx?"""
    return exchange.message is not None and 200 <= exchange.message.status < 300
