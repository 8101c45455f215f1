"""| The process that writes a crawl's WARC files: it carries out orders from a socket, in sequence."""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Lock, RLock
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sharc_crawler import plugins
from sharc_crawler.archive.exchanges import response
from sharc_crawler.archive.options import USUAL, Former, Original, WarcOptions
from sharc_crawler.archive.warc import Packed, WarcWriter
from sharc_crawler.archive.warcinfo import CaptureInfo
from sharc_crawler.bodies.spool import Spool
from sharc_crawler.changes.http import parse_response
from sharc_crawler.errors import SharcError
from sharc_crawler.live.writing.errors_as_json import describe, is_passing
from sharc_crawler.live.writing.messages import line
from sharc_crawler.live.writing.orders import answer_of, end_with_crawl, exchange_of, message_of, resources_of
from sharc_crawler.model import CaptureRef, Exchange
from sharc_crawler.plugin_faults import fault
from sharc_crawler.storage.payloads import StoredPayload

if TYPE_CHECKING:
    from sharc_crawler.archive.base import CaptureWriter, WriterKind
    from sharc_crawler.live.writing.uploads import Uploads
    from sharc_crawler.storage.observations import ObservationStore

LARGE_AT_ONCE = 2  #: large answers that are digested and packed in threads


class Writers:
    """The writers of a crawl's sites, each made when it is first needed.

    ``folder``, ``run``: where the files lie, and the part of their names that they share. ``info``, ``options``: fields
    of :class:`CaptureInfo` and :class:`WarcOptions`. ``history``: file with the payloads of former captures, or None.
    ``writer``: name or dotted path of the writer plug-in. ``places``: folder and run of sites that have their own.
    """

    def __init__(
        self,
        folder: str,
        run: str,
        info: dict[str, Any],
        options: dict[str, Any],
        history: str | None,
        writer: str = USUAL,
        places: Mapping[str, tuple[str, str]] = MappingProxyType({}),
    ) -> None:
        self._folder, self._run = Path(folder), run
        self._info, self._options = CaptureInfo(**info), WarcOptions(**options)
        self._history = _opened(history) if history else None
        self._name = writer
        self._kind: WriterKind = WarcWriter if writer == USUAL else plugins.load("writer", writer)
        self._places = dict(places)
        self._writers: dict[str, CaptureWriter] = {}
        self._written: set[str] = set()  #: sites with unsynced records

    def of(self, site: str) -> CaptureWriter:
        """The writer of a site; a new one first repairs what a crash left open."""
        writer = self._writers.get(site)
        if writer is None:
            former = self._former(site) if self._history else None
            _, run = self._places.get(site, ("", self._run))
            writer = self._kind(self.folder_of(site), site, run, self._info, self._options, former)
            self._writers[site] = writer
        self._written.add(site)
        return writer

    def _former(self, site: str) -> Former:
        """Finds payloads in former captures of the site, or of all sites."""
        from sharc_crawler.live.writing.former_payloads import FormerPayloads  # only if there is a history

        assert self._history is not None, "asked before"
        whose = None if self._options.dedup == "collection" else site
        return FormerPayloads(self._history, whose, self.folder_of(site)).find

    def checked(self, ref: Any) -> CaptureRef:
        """Check what a writer plug-in returned."""
        if not isinstance(ref, CaptureRef):
            raise fault(f"SHARC_WRITER={self._name!r}", f"answered with {type(ref).__name__}, not CaptureRef")
        named = isinstance(ref.file, str) and ref.file == Path(ref.file).name and ref.file not in ("", "..")
        if not named or any(type(one) is not int or one < 0 for one in (ref.offset, ref.length)):
            how = f"answered with {tuple(ref)!r:.200}, not with a name without a folder, and whole numbers"
            raise fault(f"SHARC_WRITER={self._name!r}", how)
        return ref

    def with_culprit(self, error: Exception) -> Exception:
        """The error to report: a plug-in is named as its cause, unless the disk is."""
        if self._name == USUAL or isinstance(error, SharcError) or is_passing(error):
            return error
        return fault(f"SHARC_WRITER={self._name!r}", f"raised {type(error).__name__}: {error}")

    def folder_of(self, site: str) -> Path:
        """The folder of a site's files."""
        return Path(self._places[site][0]) if site in self._places else self._folder

    def place(self, site: str, folder: str, run: str) -> None:
        """Set folder and run of a further site."""
        self._places[site] = (folder, run)

    def end(self, site: str) -> None:
        """Finish the files of a site that gets no more exchanges."""
        writer = self._writers.pop(site, None)
        self._forget(site)
        if writer is not None:
            self._finish(site, writer)

    def abandon(self, site: str) -> None:
        """Leave a site's files to their new owner."""
        writer = self._writers.pop(site, None)
        self._forget(site)
        if isinstance(writer, WarcWriter):
            writer.abandon()

    def _forget(self, site: str) -> None:
        self._places.pop(site, None)
        self._written.discard(site)

    def sync(self) -> set[Path]:
        """Sync what was written, replacing writers that fail; returns the folders that were written to."""
        folders = {self.folder_of(site) for site in self._written}
        while self._written:
            site = self._written.pop()
            try:
                self._writers[site].sync()
            except Exception:
                writer = self._writers.pop(site)
                with suppress(Exception):  # so that it closes its file: this process repairs it
                    writer.abandon() if isinstance(writer, WarcWriter) else writer.close()
                raise
        return folders

    def close(self) -> None:
        """Finish all files, and list their payloads in the history."""
        for site, writer in self._writers.items():
            self._finish(site, writer)
        if self._history:
            self._history.close()

    def _finish(self, site: str, writer: CaptureWriter) -> None:
        writer.close()
        if self._history:
            self._history.keep_payloads(site, stored_payloads(writer.stored()))


class Server:
    """Carries out orders. Exchanges are answered together once synced, other orders one by one."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._orders = connection.makefile("rb")
        self._kept: list[tuple[int, CaptureRef | Exception]] = []  # written, not synced
        self._large = ThreadPoolExecutor(LARGE_AT_ONCE)
        self.lock = RLock()  #: of writers and what they kept
        self._answering = Lock()  # no other lock is taken under it, so writers can log while they wait
        self._uploads: Uploads | None = None  # with an object store, exchanges count once they are uploaded, too

    def serve(self) -> None:
        """Carry out orders until they end, or nobody is left to answer to."""
        try:
            terms = message_of(self._orders.readline())
            if objects := terms.pop("objects", None):
                self._uploads = _uploads(terms["folder"], objects, self)
            self._writers = Writers(**terms)
            for text in self._orders:
                self._obey(message_of(text))
        except (EOFError, ConnectionError):
            return
        finally:
            self._large.shutdown(wait=False, cancel_futures=True)

    def answer(self, message: dict[str, Any]) -> None:
        """Send a message to the crawl."""
        with self._answering:
            self._connection.sendall(line(message))

    def _obey(self, order: dict[str, Any]) -> None:
        if order["do"] == "keep":
            self._keep(order)
        elif order["do"] == "describe":
            self._describe(order)
        elif order["do"] == "sync":
            self._sync()
        else:
            if order["do"] == "close":
                self._large.shutdown()
            with self.lock:
                done = self._try(order)
            self.answer({"done": done})

    def _keep(self, order: dict[str, Any]) -> None:
        exchange, original = exchange_of(order, self._orders)
        site, number = order["site"], order["number"]
        if isinstance(exchange.response, Spool) and original is None:
            self._large.submit(self._keep_large, number, site, exchange, exchange.response.path.parent)
            return
        with self.lock:
            try:
                writer = self._writers.of(site)
                ref = writer.write_revisit(exchange, original) if original else writer.write(exchange)
                self._kept.append((number, self._writers.checked(ref)))
            except Exception as error:
                self._kept.append((number, self._writers.with_culprit(error)))

    def _describe(self, order: dict[str, Any]) -> None:
        """Write records that the crawl made; a writer plug-in keeps exchanges only."""
        resources = resources_of(order, self._orders)
        nowhere = CaptureRef("", 0, 0)
        with self.lock:
            try:
                writer = self._writers.of(order["site"])
                refs = [writer.write_resource(one) for one in resources] if isinstance(writer, WarcWriter) else []
                self._kept.append((order["number"], refs[0] if refs else nowhere))
            except Exception as error:
                self._kept.append((order["number"], error))

    def _keep_large(self, number: int, site: str, exchange: Exchange, folder: Path) -> None:
        """Write a large exchange in a thread: digests and compression take long, and need no lock."""
        try:
            packed = self._packed(site, exchange, folder)
            with self.lock:
                writer = self._writers.of(site)
                ref = writer.write(exchange, packed) if isinstance(writer, WarcWriter) else writer.write(exchange)
                self._kept.append((number, self._writers.checked(ref)))
        except Exception as error:
            self._kept.append((number, self._writers.with_culprit(error)))
        with suppress(ConnectionError):  # otherwise the crawl is gone
            self._sync()

    def _packed(self, site: str, exchange: Exchange, folder: Path) -> Packed | None:
        """The response as a compressed record, unless its payload is stored already."""
        with self.lock:
            writer = self._writers.of(site)
        message = parse_response(exchange.response)
        if message is None or not isinstance(writer, WarcWriter):
            return None
        assert message.digest, "it is made here, and remembered"
        with self.lock:
            stored = writer.stored_already(exchange, message)
        return Packed(message, response(exchange, message), b"") if stored else writer.pack(exchange, message, folder)

    def _sync(self) -> None:
        with self.lock:
            kept, self._kept = self._kept, []
            folders: set[Path] = set()
            try:
                folders = self._writers.sync()
            except Exception as error:
                why = self._writers.with_culprit(error)
                kept = [(number, one if isinstance(one, Exception) else why) for number, one in kept]
            if self._uploads:
                self._uploads.synced(folders, kept)
            elif kept:
                self.tell(kept)

    def tell(self, kept: list[tuple[int, CaptureRef | Exception]]) -> None:
        """Report which exchanges count, and why others do not."""
        self.answer({"kept": [(number, answer_of(one)) for number, one in kept]})

    def _try(self, order: dict[str, Any]) -> dict[str, Any] | None:
        try:
            self._do(order)
        except Exception as error:
            return describe(self._writers.with_culprit(error))
        return None

    def _do(self, order: dict[str, Any]) -> None:
        site = order.get("site", "")
        if place := order.get("place"):
            self._writers.place(site, *place)
        if order["do"] == "open":
            self._writers.of(site)
            if self._uploads:
                self._uploads.open(self._writers.folder_of(site))
        elif order["do"] in ("end", "abandon"):
            folder = self._writers.folder_of(site)
            (self._writers.end if order["do"] == "end" else self._writers.abandon)(site)
            if self._uploads:
                (self._uploads.end if order["do"] == "end" else self._uploads.abandon)(folder)
        else:
            self._writers.close()
            if self._uploads:
                self._uploads.finish()


class _Told(logging.Handler):
    """Sends log records to the crawl, which logs them."""

    def __init__(self, server: Server) -> None:
        super().__init__(logging.INFO)
        self._server = server

    def emit(self, record: logging.LogRecord) -> None:
        note = [record.getMessage()] if getattr(record, "note", False) else []
        self._server.answer({"level": record.levelno, "log": record.getMessage(), "notes": note})


def _uploads(base: str, url: str, server: Server) -> Uploads:
    from sharc_crawler.live.writing.uploads import Uploads  # an extra: only with an object store

    return Uploads(base, url, server.lock, server.tell)


def _opened(history: str) -> ObservationStore:
    from sharc_crawler.storage.observations import ObservationStore  # loads NumPy: only with a history

    return ObservationStore(history)


def stored_payloads(stored: Iterable[tuple[Original, bool]]) -> Iterator[StoredPayload]:
    """The payloads that a capture holds in full, for captures to come."""
    for original, chunked in stored:
        if original.digest and original.record:
            yield StoredPayload(original.digest, chunked, original.url, original.date, original.record)


def main() -> None:
    """Serve on standard input. The crawl has raised the limit on open files."""
    connection = socket.socket(fileno=0)
    end_with_crawl(connection)
    server = Server(connection)
    logging.getLogger().addHandler(_Told(server))
    server.serve()
    os._exit(0)  # at once: unfinished work is useless without the crawl


if __name__ == "__main__":
    main()
