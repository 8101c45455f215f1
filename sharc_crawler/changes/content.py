"""The default change detector."""

from __future__ import annotations

from collections.abc import Sequence

from sharc_crawler.bodies.markup import HtmlPage
from sharc_crawler.changes.fingerprint import fingerprint, fingerprint_of, is_html
from sharc_crawler.changes.masks import Mask


class ContentDetector:
    """Makes fingerprints of content without what masks hide."""

    def __init__(self, masks: Sequence[Mask] = ()) -> None:
        self.masks = masks

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """:func:`sharc_crawler.changes.fingerprint.fingerprint` with this detector's masks."""
        return fingerprint(body, media_type, self.masks)

    def fingerprint_of(self, page: HtmlPage, body: bytes, media_type: str | None) -> str | None:
        """The fingerprint of a body that is parsed already; its tree is changed."""
        if page.root is None or not page.whole or not is_html(media_type):
            return self.fingerprint(body, media_type)
        return fingerprint_of(page.root, self.masks)
