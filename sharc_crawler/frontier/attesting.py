"""What an attested capture has asked for again; what came of it are its :class:`..evidence.attesting.Attestations`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.evidence.attesting import Attestations

if TYPE_CHECKING:
    from sharc_crawler.model import PageId
    from sharc_crawler.rates.history import SiteHistory


class Attesting(Attestations):
    """A capture's attestations, and how far it has got with asking for them."""

    def __init__(self, history: SiteHistory, share: float) -> None:
        super().__init__(history, share)
        self.again: list[PageId] | None = None  #: asked for again at T, and not all answered yet; None: T is to come
        self.embedded_again = False  #: those downloaded before T have been asked for again
        self.sought = False  #: the sitemaps were to be read at T
        self.finally_read = False  #: the sitemaps, after all else
