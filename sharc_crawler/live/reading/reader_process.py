"""| The process that reads documents: one that takes too much time or memory ends this process, not the crawl."""

from __future__ import annotations

import os
import re
import resource
import signal
import socket
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

from sharc_crawler.addresses.urls import PLAIN_NAME, USUAL, canonical, is_plain, is_usual
from sharc_crawler.links.found import LIMIT
from sharc_crawler.live.reading.document import detector_of, read
from sharc_crawler.live.reading.readings import Order, Reading, Wants
from sharc_crawler.live.writing.messages import line
from sharc_crawler.live.writing.orders import block_at, end_with_crawl, message_of
from sharc_crawler.model import columns_of

if TYPE_CHECKING:
    from sharc_crawler.bodies.spool import Octets
    from sharc_crawler.changes.base import ChangeDetector
    from sharc_crawler.model import Hints, Kind, Sighting

SECONDS = 10.0  #: of processor time for a document; then the system ends the process
DIGESTED = 32 << 20  #: bytes of a large one for each further second
MEMORY = 2 << 30  #: bytes, not counting files that it reads

KEPT = 1_000  #: detectors for sites with masks of their own


def _answer(raw: Octets, order: Order, detector: ChangeDetector) -> dict[str, Any]:
    signal.setitimer(
        signal.ITIMER_PROF, SECONDS + len(raw) / DIGESTED
    )  # SIGPROF has no handler, so it ends the process, even in C code
    try:
        return packed(read(raw, order, detector))
    except MemoryError:
        os._exit(1)
    except Exception as error:  # a detector plug-in, a mask that cannot be used, or a bug of ours
        return packed(replace(_plain(raw, order, detector), problems=(f"{type(error).__name__}: {error}",)))
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _plain(raw: Octets, order: Order, detector: ChangeDetector) -> Reading:
    """Read without comparison; if that fails too, without links."""
    try:
        return read(raw, order._replace(compared=False), detector)
    except Exception:  # a bug of ours: the first error is reported
        return read(raw, order._replace(wants=Wants.NOTHING, compared=False), detector)


def serve(connection: socket.socket) -> None:
    """Read documents in order until the connection ends."""
    orders = connection.makefile("rb")
    try:
        terms = message_of(orders.readline())
        detector_with = lru_cache(KEPT)(partial(detector_of, terms["detector"]))
        detector_with(terms["masks"])  # an error shows before the first document comes
        connection.sendall(line({"ready": True}))
        for text in orders:
            order = message_of(text)
            raw = block_at(order["size"], orders)
            asked = Order(*order["order"])
            asked = asked._replace(wants=Wants(asked.wants))
            detector = detector_with(asked.masks or terms["masks"])
            connection.sendall(line({"number": order["number"], **_answer(raw, asked, detector)}))
    except (EOFError, ConnectionError):
        return


def main() -> None:
    """Serve on standard input."""
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    connection = socket.socket(fileno=0)
    end_with_crawl(connection)
    serve(connection)


def packed(reading: Reading) -> dict[str, Any]:
    """A reading as JSON."""
    return {
        "payload": reading.payload,
        "links": _columns(reading.links),
        "feeds": reading.feeds,
        "document": reading.document,
        "said": (reading.robots, reading.unreadable, reading.text),
        "problems": reading.problems,
    }


def _columns(links: Sequence[Sighting]) -> tuple[Sequence[str], list[tuple[Kind, int]], Sequence[Hints | None], Any]:
    """Links; how many of a kind follow each other; hints, where any has some; what is canonical of unusual ones."""
    urls, kinds, hints, _, _ = columns_of(links)
    runs = [(kind, len([*run])) for kind, run in groupby(kinds)]
    most = max((size for _, size in runs), default=0)
    looked_at = urls if most <= LIMIT else ()  # a longer sitemap is taken in by portions: here it takes too long
    return urls, runs, hints, {url: canonical(url) for url in unusual(looked_at)}


_PLAIN_NAMES = re.compile(rf"{PLAIN_NAME.pattern}(?:\n{PLAIN_NAME.pattern})*+", re.ASCII)


def unusual(urls: Sequence[str]) -> list[str]:
    """The URLs that are not :func:`~sharc_crawler.addresses.urls.is_usual`, mostly decided by one match for all.

    >>> unusual(["http://h/a/b", "http://h/a/c"]), unusual(["http://h/a", "http://h/a/../b"])
    ([], ['http://h/a/../b'])
    """
    parts = [url.rpartition("/") for url in urls]
    names = "\n".join([name for _, _, name in parts])
    if _PLAIN_NAMES.fullmatch(names) and names.count("\n") < len(parts) and max(map(len, urls)) <= USUAL:
        folders = {folder for folder, _, _ in parts}
        if all(is_plain(f"{folder}/") for folder in folders):
            return []
    return [url for url in urls if not is_usual(url)]


if __name__ == "__main__":
    main()
