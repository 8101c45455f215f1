"""Which captured pages show, to the byte, what the site answered for a page that cannot exist."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.frontier.traps.probing import is_look
from sharc_crawler.model import Kind, Result
from sharc_crawler.plural import counted

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.frontier.rows import CaptureRow
    from sharc_crawler.report.pages import Stored

FEW = 3  #: of them that are named


def soft_errors(store: Stored, capture: CaptureRow) -> Iterator[str]:
    """A note on them, where there are any. They count as pages all the same: equal bytes do not tell what is meant."""
    errors = {digest for _, digest in _shown(store, capture.capture, Kind.PROBE)}
    pages = _shown(store, capture.capture, Kind.PAGE) if errors else ()
    if found := [url for url, digest in pages if digest in errors]:
        more = f" and {len(found) - FEW:,} more" if len(found) > FEW else ""
        yield (
            f"{counted(len(found), 'page', 'have')} the bytes of the site's error page of status 200, and counted as"
            f" captured all the same: {', '.join(found[:FEW])}{more}"
        )


def _shown(store: Stored, capture: int, kind: Kind) -> Iterator[tuple[str, str]]:
    """URLs, each with the digest of what it showed first. A page asked once more for its links is no error page."""
    for url in store.urls(capture):
        if url.page.kind is kind and not is_look(url.page.url) and url.visits:
            outcome = url.visits[0].outcome
            if outcome.result is Result.OK and outcome.digest:
                yield url.page.url, outcome.digest
