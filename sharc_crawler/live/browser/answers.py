"""Answers that pages may need again, kept on disk as they came until the capture is complete.

The archive may only have a reference to an equal payload elsewhere; this is the answer itself. A crawl that goes on
finds those of the former run.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from base64 import b64decode, b64encode, urlsafe_b64encode
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from cryptography.fernet import Fernet, InvalidToken

from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.bodies.coding import unpacked
from sharc_crawler.bodies.spool import LARGE, Octets, Spool, pieces
from sharc_crawler.changes.http import parse_response
from sharc_crawler.errors import UsageError
from sharc_crawler.live.browser.chromium import PROFILE, remove_profile
from sharc_crawler.live.requests import Sent

if TYPE_CHECKING:
    from sharc_crawler.login import Login
    from sharc_crawler.model import PageId

FOLDER = ".answers"
_ASKED = ".asked"
_CLASSES = "classes.json"
MOST = 64 << 20  #: bytes of an answer that a browser is given
PART = 8 << 20  #: bytes in answer to a range request
_OK, _PARTIAL = 200, 206
_UNSENDABLE = re.compile(r"[\0\r\n]")  # DevTools refuses an answer with these in a header
_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")  #: a single range; nobody asks for several
#: headers about the transfer, or about what the browser must not do by itself
_LEFT_OUT = {
    "content-encoding", "content-length", "transfer-encoding", "connection", "keep-alive", "alt-svc", "set-cookie",
    "link", "report-to", "nel", "content-disposition",
}  # fmt: skip


class Handed(NamedTuple):
    """An answer as the DevTools protocol has it."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes

    @property
    def media_type(self) -> str | None:
        """The Content-Type without parameters."""
        content_type = next((value for name, value in self.headers if name.lower() == "content-type"), "")
        return content_type.partition(";")[0].strip().lower() or None


def for_browser(raw: Octets, origin: str | None, span: str | None = None) -> Handed | None:
    r"""An answer for a page's request; ``origin``: of a cross-origin script; ``span``: its ``Range`` header.

    The crawl asked for itself, without an origin, so the server did not say who may read the answer: here all may. It
    asked for all: what is wanted in parts (a film) is given in parts of that.

    >>> for_browser(b"HTTP/1.1 200 OK\r\nA: b\r\nConnection: close\r\n\r\nhello", None)
    Handed(status=200, headers=[('A', 'b')], body=b'hello')
    >>> for_browser(b"HTTP/1.1 200 OK\r\n\r\nhello", None, "bytes=1-2")
    Handed(status=206, headers=[('Content-Range', 'bytes 1-2/5')], body=b'el')
    """
    message = parse_response(raw)
    if message is None:
        return None
    codings = message.values(b"content-encoding")
    part = _part(span, len(message.payload)) if message.status == _OK and not codings else None
    if len(raw) > MOST and part is None:
        return None
    headers = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in message.headers]
    kept = [header for header in headers if header[0].lower() not in _LEFT_OUT and not _UNSENDABLE.search(header[1])]
    if origin:
        kept = [(name, value) for name, value in kept if not name.lower().startswith("access-control-allow-")]
        kept += [("Access-Control-Allow-Origin", origin), ("Access-Control-Allow-Credentials", "true")]
    if part is None:
        return Handed(message.status, kept, bytes(unpacked(message.payload, codings)[0]))
    first, end = part
    kept.append(("Content-Range", f"bytes {first}-{end - 1}/{len(message.payload)}"))
    return Handed(_PARTIAL, kept, bytes(message.payload[first:end]))


def _part(span: str | None, size: int) -> tuple[int, int] | None:
    """Start and end of a range, bounded: a browser may ask for more (RFC 9110, 15.3.7).

    >>> _part("bytes=2-", 9), _part("bytes=-2", 9), _part("bytes=9-", 9), _part(None, 9)
    ((2, 9), (7, 9), None, None)
    """
    found = _RANGE.fullmatch(span or "")
    if found is None or found[0] == "bytes=-":
        return None
    first = int(found[1]) if found[1] else max(0, size - int(found[2]))
    end = min(size, int(found[2]) + 1) if found[1] and found[2] else size
    return (first, min(end, first + PART)) if first < end else None


def sealed(login: Login | None, output: Path | None) -> Seal | None:
    """The seal of a session; raises UsageError if the capture was begun with other values."""
    if login is None:
        return None
    seal = Seal(login)
    for place in (output / FOLDER, *output.glob(f"*/{FOLDER}")) if output else ():
        for asked in place.glob(f"*{_ASKED}"):
            seal.opened(asked.read_bytes())
            break  # a capture has one session
    return seal


class KeptAnswers:
    """What the pages of a site requested in browsers; ``seal`` encrypts what may hold a session's secrets."""

    def __init__(self, folder: Path, seal: Seal | None = None) -> None:
        self.folder, self._seal = folder / FOLDER, seal
        self.folder.mkdir(mode=0o700, exist_ok=True)  # it may hold content for members only
        for left in self.folder.glob(f"{PROFILE}*"):  # left by browsers of a killed crawl
            remove_profile(left)

    def keep(self, page: PageId, raw: Octets) -> None:
        """Keep an answer, whole or not at all."""
        half = self.folder / f"{page}.half"
        with half.open("wb") as file:
            for piece in pieces(raw):
                file.write(piece)
        half.replace(self.folder / str(page))

    def ask(self, page: PageId, url: str, sent: Sent) -> None:
        """Keep what a request says, with its URL, before the frontier knows of it: numbers may be reused."""
        text = json.dumps([dict(sent.headers), sent.method, b64encode(sent.body).decode(), url])
        replace_file(self.folder / f"{page}{_ASKED}", self._seal.closed(text) if self._seal else text)

    def asked(self, page: PageId, url: str) -> Sent:
        """What :meth:`ask` kept."""
        try:
            text = (self.folder / f"{page}{_ASKED}").read_bytes()
        except FileNotFoundError:
            return Sent()
        headers, method, body, of = json.loads(self._seal.opened(text) if self._seal else text)
        return Sent(headers, method, b64decode(body)) if of == url else Sent()

    def show(self, page: PageId, fingerprint: str) -> None:
        """Note that a page was shown, with this content."""
        replace_file(self.folder / f"{page}.shown", fingerprint)

    def shown(self, page: PageId) -> str | None:
        """The fingerprint of a page that was shown; ``None``: it was not."""
        try:
            return (self.folder / f"{page}.shown").read_text()
        except FileNotFoundError:
            return None

    @property
    def none_shown(self) -> bool:
        """Whether no page was shown."""
        return not any(self.folder.glob("*.shown"))

    def learn(self, classes: str) -> None:
        """Keep which pages need a browser, as known now."""
        replace_file(self.folder / _CLASSES, classes)

    def learned(self) -> str:
        """What :meth:`learn` kept; "": nothing."""
        try:
            return (self.folder / _CLASSES).read_text()
        except FileNotFoundError:
            return ""

    def of(self, page: PageId) -> Octets | None:
        """The answer for a page; ``None``: there is none."""
        place = self.folder / str(page)
        try:
            if place.stat().st_size > LARGE:
                return Spool(place)
            return place.read_bytes()
        except FileNotFoundError:
            return None

    def clear(self) -> None:
        """Remove all answers: they are not needed again."""
        shutil.rmtree(self.folder, ignore_errors=True)


# -- what pages asked for in a session, as it lies on the disk ---------------------------------------------------------

# Scripts of a page send more secrets than the session's own values, such as a token that they just received. A crawl
# that is continued needs them. So they are encrypted with a key made of the session's values, which we never store:
# only somebody who has the session can read them.


_COST = 1 << 14  #: of deriving the key: tens of milliseconds, once a crawl


class Seal:
    """Encrypts with a key derived from a session's secrets.

    >>> from sharc_crawler.login import Cookie, Login
    >>> seal = Seal(Login((Cookie("sid", "topsecret", "h"),)))
    >>> seal.opened(seal.closed("Bearer abc"))
    'Bearer abc'
    """

    def __init__(self, login: Login) -> None:
        secrets = "\n".join(login.values).encode()
        key = hashlib.scrypt(secrets, salt=b"sharc-crawler: answers", n=_COST, r=8, p=1, dklen=32)
        self._lock = Fernet(urlsafe_b64encode(key))

    def closed(self, text: str) -> bytes:
        """Encrypt a text."""
        return self._lock.encrypt(text.encode())

    def opened(self, data: bytes) -> str:
        """Decrypt; raises :class:`~sharc_crawler.errors.UsageError` if another session encrypted it."""
        try:
            return self._lock.decrypt(data).decode()
        except InvalidToken:
            raise UsageError(
                "the capture was begun with other values of cookies= or state=, and only with those can it be told what"
                " its pages had asked for: give the same file as before, or another folder as output="
            ) from None
