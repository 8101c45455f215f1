"""Write a site capture's exchanges to WARC/1.1 files, as they were on the wire."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from sharc_crawler.archive import exchanges
from sharc_crawler.archive.cdxj import REVISIT, IndexEntry
from sharc_crawler.archive.indexing import media_type
from sharc_crawler.archive.options import FORMER, Former, Original, Resource, WarcOptions
from sharc_crawler.archive.payloads import Payloads
from sharc_crawler.archive.records import Draft, target_uri
from sharc_crawler.archive.series import WarcSeries
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.http import HttpResponse, parse_response
from sharc_crawler.errors import DataError
from sharc_crawler.instants import iso

if TYPE_CHECKING:
    from sharc_crawler.archive.warcinfo import CaptureInfo
    from sharc_crawler.bodies.spool import Octets
    from sharc_crawler.model import CaptureRef, Exchange

_NOT_MODIFIED = 304


class Packed(NamedTuple):
    """A large answer, packed as a record already."""

    message: HttpResponse
    draft: Draft
    record: Octets


class WarcWriter:
    r"""Writes one site capture's exchanges: the :class:`~sharc_crawler.archive.base.CaptureWriter` of this project.

    A new writer of the same site and run in the same folder continues where a former one ended or crashed: it cuts off
    and logs a torn record, continues the numbering, and does not store payloads again. With ``dedup="site"`` or
    ``"collection"``, this includes payloads that ``former`` finds in former captures.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from sharc_crawler.archive.warcinfo import CaptureInfo
    >>> from sharc_crawler.model import Exchange
    >>> info = CaptureInfo("sharc-crawler", "me@example.org", "obey", "bfs")
    >>> page = Exchange("http://example.org/", 0, 1, b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\nhello")
    >>> with TemporaryDirectory() as folder, WarcWriter(Path(folder), "example.org", "run1", info) as writer:
    ...     writer.write(page).file
    'example.org-19700101000000-00000-run1.warc.gz'
    """

    def __init__(
        self,
        folder: Path,
        site: str,
        run: str,
        info: CaptureInfo,
        options: WarcOptions | None = None,
        former: Former | None = None,
    ) -> None:
        options = options or WarcOptions()
        self._level = options.level
        self._series = WarcSeries(folder, site, run, info, options)
        former = former if options.dedup in FORMER else None
        self._payloads = None if options.dedup == "off" else Payloads(folder, former)
        if self._payloads is not None:
            for _, path in self._series.former:
                self._payloads.read(path)

    def stored(self) -> Iterator[tuple[Original, bool]]:
        """The payloads that the capture stores in full, and whether they are chunked, for later captures."""
        return self._payloads.stored() if self._payloads is not None else iter(())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def write(self, exchange: Exchange, packed: Packed | None = None) -> CaptureRef:
        """Write an exchange: answer or failure, request, and notes.

        ``packed``: its answer, packed before (which takes long for a large one).
        """
        message = packed.message if packed else parse_response(exchange.response)
        if message is None:
            return self._append(exchange, exchanges.failure(exchange), None)
        if original := self.stored_already(exchange, message):
            return self._append(exchange, exchanges.identical(message, original), message)
        draft = packed.draft if packed else exchanges.response(exchange, message)
        ref = self._append(exchange, draft, message, packed.record if packed else b"")
        payloads = None if exchange.truncated else self._payloads
        if payloads is not None:
            stored = Original(exchange.url, exchange.started, message.digest, draft.record_id)
            payloads.add(stored, chunked=message.chunked)
        return ref

    def stored_already(self, exchange: Exchange, message: HttpResponse) -> Original | None:
        """The answer that stores the same payload with the same framing."""
        if self._payloads is None or exchange.truncated:
            return None
        return self._payloads.find(message.digest, chunked=message.chunked, here=exchange.evidence)

    def pack(self, exchange: Exchange, message: HttpResponse, folder: Path) -> Packed:
        """Pack a large answer into a temporary file of the folder, without changing the archive."""
        from sharc_crawler.archive.large_records import large_member  # rarely needed
        from sharc_crawler.bodies.spooling import Spooling

        draft = exchanges.response(exchange, message)
        fields = draft.all_fields(exchanges.common_fields(exchange))
        record = large_member(fields, draft.block, draft.start, self._level)
        return Packed(message, draft, Spooling(folder, record).done())

    def write_revisit(self, exchange: Exchange, original: Original) -> CaptureRef:
        """Write an exchange answered with 304: its URL is as it was at ``original``."""
        message = parse_response(exchange.response)
        if message is None or message.status != _NOT_MODIFIED:
            status = message.status if message else None
            raise DataError(f"status={status} of {exchange.url} is not 304: only a server's word makes it not modified")
        former = original.record is not None
        holder = original if former or self._payloads is None else self._payloads.holder(original)
        return self._append(exchange, exchanges.not_modified(holder, former=former), message)

    def write_resource(self, resource: Resource) -> CaptureRef:
        """Write a document that the crawl made itself (WARC/1.1, 6.4)."""
        date = iso(resource.date)
        digest = labelled_digest(resource.block)
        draft = Draft("resource", [("WARC-Payload-Digest", digest)], resource.block, resource.media_type)
        common = [("WARC-Date", date), ("WARC-Target-URI", target_uri(resource.uri))]

        def entry(ref: CaptureRef) -> IndexEntry:
            return IndexEntry(resource.uri, date, resource.media_type, None, digest, ref.offset, ref.length, ref.file)

        return self._series.append([draft], common, resource.date, entry=entry)

    def sync(self) -> None:
        """Make everything written outlast a power failure; if this raises, a new writer must continue."""
        self._series.sync()

    def close(self) -> None:
        """Give the open file its final name and write its index; nothing can be written afterwards."""
        self._series.close()

    def abandon(self) -> None:
        """Leave the open file to another process."""
        self._series.abandon()

    def _append(
        self, exchange: Exchange, main: Draft, message: HttpResponse | None, packed: Octets = b""
    ) -> CaptureRef:
        drafts = [main, *exchanges.companions(exchange, main, message)]
        entry = None if message is None else partial(_entry, exchange, main, message)
        return self._series.append(drafts, exchanges.common_fields(exchange), exchange.started, packed, entry)


def _entry(exchange: Exchange, main: Draft, message: HttpResponse, ref: CaptureRef) -> IndexEntry:
    revisit = main.kind == "revisit"
    return IndexEntry(
        url=exchange.url,
        date=iso(exchange.started),
        mime=REVISIT if revisit else media_type(message.header(b"content-type")),
        status=str(message.status) if main.block else None,
        digest=message.digest if main.block else dict(main.fields).get("WARC-Payload-Digest"),
        offset=ref.offset,
        length=ref.length,
        file=ref.file,
        **_not_a_get(exchange.request),
    )


def _not_a_get(request: bytes) -> dict[str, str | None]:
    """Fields of the index entry for a request other than GET."""
    if request.startswith(b"GET "):
        return {}
    from sharc_crawler.archive.posted import sent  # hardly ever

    return sent(request)._asdict()
