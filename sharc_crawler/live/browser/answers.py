"""Answers that pages may need again: kept on the disk, as they came, until the capture is complete.

What was archived may be a reference to an equal payload elsewhere; this is the answer itself. A crawl that goes on
finds those of the former one.
"""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.archive.files import replace_file
from sharc_crawler.changes.http import parse_response
from sharc_crawler.coding import unpacked
from sharc_crawler.live.browser.chromium import PROFILE, remove_profile
from sharc_crawler.spool import LARGE, Spool, pieces

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.model import PageId
    from sharc_crawler.spool import Octets

FOLDER = ".answers"
MOST = 64 << 20  #: bytes of an answer that a browser is given
#: they speak of the transfer, or of what the browser must not do by itself
_LEFT_OUT = {
    "content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "alt-svc", "set-cookie",
    "link", "report-to", "nel",
}  # fmt: skip


class Handed(NamedTuple):
    """An answer as a browser's protocol has it."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def media_type(self) -> str | None:
        """Without its parameters."""
        said = next((value for name, value in self.headers if name.lower() == "content-type"), "")
        return said.partition(";")[0].strip().lower() or None


def for_browser(raw: Octets, origin: str | None) -> Handed | None:
    r"""An answer to a request of a page; ``origin``: of a script that asked another host.

    The crawl asked for itself, without an origin, so the server did not say who may read the answer: here all may.

    >>> for_browser(b"HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\n\r\nhello", None)
    Handed(status=200, headers=[('A', 'b')], body=b'hello')
    """
    message = parse_response(raw)
    if message is None or len(raw) > MOST:
        return None
    body, _ = unpacked(message.payload, message.values(b"content-encoding"))
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.headers]
    kept = [(name, value) for name, value in headers if name.lower() not in _LEFT_OUT]
    if origin:
        kept = [(name, value) for name, value in kept if not name.lower().startswith("access-control-allow-")]
        kept += [("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true")]
    return Handed(message.status, kept, bytes(body))


class KeptAnswers:
    """Of one site capture, by page."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / FOLDER
        self.folder.mkdir(mode=0o700, exist_ok=True)  # a session's secrets are among what pages asked
        for left in self.folder.glob(f"{PROFILE}*"):  # by browsers of a crawl that was killed
            remove_profile(left)

    def keep(self, page: PageId, raw: Octets) -> None:
        """Keep an answer, whole or not at all."""
        half = self.folder / f"{page}.half"
        with half.open("wb") as file:
            for piece in pieces(raw):
                file.write(piece)
        half.replace(self.folder / str(page))

    def ask(self, page: PageId, headers: dict[str, str]) -> None:
        """Keep what a request is to say, at both downloads."""
        if headers:
            replace_file(self.folder / f"{page}.asked", json.dumps(headers))

    def asked(self, page: PageId) -> dict[str, str]:
        """The same."""
        try:
            said: dict[str, str] = json.loads((self.folder / f"{page}.asked").read_text())
        except FileNotFoundError:
            return {}
        return said

    def of(self, page: PageId) -> Octets | None:
        """The answer; ``None``: there is none."""
        place = self.folder / str(page)
        try:
            if place.stat().st_size > LARGE:
                return Spool(place)
            return place.read_bytes()
        except FileNotFoundError:
            return None

    def clear(self) -> None:
        """Nobody will ask again."""
        shutil.rmtree(self.folder, ignore_errors=True)
