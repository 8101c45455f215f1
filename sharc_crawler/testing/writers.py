"""Conformance tests of a :class:`~sharc_crawler.archive.base.CaptureWriter`: subclass :class:`CaptureWriterContract`.

.. code-block:: python

    class TestMine(CaptureWriterContract):
        kind = Mine
"""

# ruff: noqa: D102 - the name of a test says it

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from sharc_crawler.archive.base import CaptureWriter, WriterKind
from sharc_crawler.archive.options import Original, WarcOptions
from sharc_crawler.archive.warcinfo import CaptureInfo
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.errors import DataError, SharcError
from sharc_crawler.model import Exchange

INFO = CaptureInfo("software/1", "me@example.org", "obey", "bfs")
REQUEST = b"GET / HTTP/1.1\r\nHost: a.example\r\n\r\n"


def page(body: bytes, url: str = "http://a.example/", started: float = 1_795_000_000.25) -> Exchange:
    """The exchange of a page."""
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body)
    return Exchange(url, started, started + 0.5, REQUEST, head + body)


class CaptureWriterContract:
    """A crawl relies on this: an exchange that was confirmed is stored, at the returned place."""

    kind: ClassVar[WriterKind]

    def make(self, folder: Path, site: str = "a.example") -> CaptureWriter:
        """Make a writer for run 1."""
        return type(self).kind(folder, site, "run1", INFO, WarcOptions(), None)

    def test_exchanges_lie_where_they_are_said_to(self, tmp_path: Path) -> None:
        writer = self.make(tmp_path)
        refs = [writer.write(page(b"%d" % number, started=1_795_000_000.0 + number)) for number in range(3)]
        writer.sync()
        writer.close()
        assert len({(ref.file, ref.offset) for ref in refs}) == 3
        for ref in refs:
            assert ref.length > 0
            assert (tmp_path / ref.file).stat().st_size >= ref.offset + ref.length

    def test_whatever_came_is_kept(self, tmp_path: Path) -> None:
        writer = self.make(tmp_path)
        whole = page(b"text")
        for exchange in (
            replace(whole, response=b"", error="connection refused"),
            replace(whole, response=b"HTTP/1.1 2", error="cut short"),
            replace(whole, truncated="length"),
            replace(whole, response=b"\x00\xff", error="no valid HTTP"),
            replace(whole, request=b""),
            replace(whole, surplus=b"more"),
            replace(whole, before=1),
        ):
            assert writer.write(exchange).file
        writer.sync()
        writer.close()

    def test_a_304_is_a_revisit_and_nothing_else_is(self, tmp_path: Path) -> None:
        writer = self.make(tmp_path)
        first = page(b"text")
        writer.write(first)
        original = Original(first.url, first.started, labelled_digest(b"text"))
        unchanged = replace(first, started=first.ended, response=b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n')
        assert writer.write_revisit(unchanged, original).file
        with pytest.raises(DataError):
            writer.write_revisit(first, original)
        writer.sync()
        writer.close()

    def test_what_is_stored_in_full_can_be_referred_to(self, tmp_path: Path) -> None:
        writer = self.make(tmp_path)
        writer.write(page(b"text"))
        writer.write(replace(page(b"half"), truncated="length"))
        found = [original.digest for original, _ in writer.stored()]
        assert set(found) <= {labelled_digest(b"text")}, "what is cut short holds no payload"
        writer.close()

    def test_another_goes_on_where_one_ended(self, tmp_path: Path) -> None:
        first = self.make(tmp_path)
        before = first.write(page(b"one"))
        first.sync()
        first.close()
        kept = (tmp_path / before.file).read_bytes()
        second = self.make(tmp_path)
        after = second.write(page(b"two", started=1_795_000_100.0))
        second.sync()
        second.close()
        assert (after.file, after.offset) != (before.file, before.offset)
        assert (tmp_path / before.file).read_bytes()[: len(kept)] == kept

    def test_nothing_is_taken_after_the_end(self, tmp_path: Path) -> None:
        writer = self.make(tmp_path)
        writer.close()
        with pytest.raises(SharcError):
            writer.write(page(b"late"))
