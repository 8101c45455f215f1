"""Our detector keeps the contract."""

from __future__ import annotations

from sharc_crawler.changes.content import ContentDetector
from sharc_crawler.changes.masks import Mask
from sharc_crawler.testing.detectors import ChangeDetectorContract


class TestContent(ChangeDetectorContract):
    def make(self) -> ContentDetector:
        return ContentDetector()


class TestMasked(ChangeDetectorContract):
    def make(self) -> ContentDetector:
        return ContentDetector((Mask("//p"),))
