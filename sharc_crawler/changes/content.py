"""The detector that a capture uses unless told otherwise."""

from __future__ import annotations

from collections.abc import Sequence

from sharc_crawler.bodies.markup import HtmlPage
from sharc_crawler.changes.fingerprint import fingerprint, fingerprint_of, is_html
from sharc_crawler.changes.masks import Mask


class ContentDetector:
    """Fingerprints of what counts as content, without what masks leave out."""

    def __init__(self, masks: Sequence[Mask] = ()) -> None:
        self.masks = masks

    def fingerprint(self, body: bytes, media_type: str | None) -> str | None:
        """:func:`sharc_crawler.changes.fingerprint.fingerprint` by this detector's masks."""
        return fingerprint(body, media_type, self.masks)

    def fingerprint_of(self, page: HtmlPage, body: bytes, media_type: str | None) -> str | None:
        """The fingerprint of a body that is parsed already, where that will do; the tree is used up."""
        if page.root is None or not page.whole or not is_html(media_type):
            return self.fingerprint(body, media_type)
        return fingerprint_of(page.root, self.masks)
