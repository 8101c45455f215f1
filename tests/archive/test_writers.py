"""Every writer of captures does what the port promises."""

from __future__ import annotations

from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.testing.writers import CaptureWriterContract


class TestWarcWriter(CaptureWriterContract):
    kind = WarcWriter
