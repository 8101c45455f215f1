"""How to ask archives for the captures of a seed: Wayback's and pywb's CDX servers, and TimeMaps (RFC 7089).

A dialect derives the next question from the answers so far. A series of answers on disk is therefore enough to go on.
It makes no requests itself.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote, urlencode, urljoin, urlsplit

from sharc_crawler.archive.histories import cdx, timemap
from sharc_crawler.archive.histories.gathering import Gathering
from sharc_crawler.archive.surt import surt
from sharc_crawler.errors import DataError, unknown_name

ROWS = 10_000  #: most captures in one answer of a Wayback server; a resume key leads to more
LONGEST_KEY = 16_384  #: characters of a resume key, which contains a URL
NOTHING = b"[]\n"  #: the answer kept if an archive has no capture
_HTML = re.compile(rb"\s*<(?:!doctype|html|head|\?xml)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CaptureQuery:
    """Which captures to ask an archive for."""

    url: str
    website: bool = False  #: also of all pages under the URL
    since: str | None = None  #: the earliest, 14 digits


class Dialect(ABC):
    """How to ask one kind of server."""

    name: ClassVar[str]
    longest: ClassVar[int] = 64 << 20  #: most bytes of an unpacked answer; a TimeMap of 400,000 mementos has 56 MB

    def __init__(self, server: str) -> None:
        self.server = server

    @abstractmethod
    def question(self, wanted: CaptureQuery, answers: Sequence[bytes]) -> str | None:
        """The URL to fetch after these answers; ``None``: there are no more."""

    @abstractmethod
    def check(self, body: bytes) -> None:
        """Raise :class:`~sharc_crawler.errors.DataError` unless it is a whole answer."""

    def check_page(self, wanted: CaptureQuery, body: bytes) -> None:
        """Raise :class:`~sharc_crawler.errors.DataError` for captures of another host."""
        host, found = _host(_spelled_alike(wanted.url)), _read(body)
        if others := sorted({_host(key.casefold()) for key in found.keys} - {host}):
            raise DataError(f"captures of {others[0][:1000]}, not of {host} ({wanted.url})")

    def ends(self, status: int, answers: Sequence[bytes]) -> bool:  # noqa: ARG002
        """Does a refusal mean that there are no (more) captures, rather than an error?"""
        return status == 404

    def replay(self) -> str:
        """The beginning of mementos' URLs."""
        return urljoin(self.server, ".")

    def _ask(self, wanted: CaptureQuery, **fields: str | None) -> str:
        url, match = (_folder(wanted.url), "prefix") if wanted.website else (wanted.url, None)
        known = {"url": url, "matchType": match, "output": "json", "from": wanted.since, **fields}
        given = {name: value for name, value in known.items() if value is not None}
        return f"{self.server}{'&' if '?' in self.server else '?'}{urlencode(given)}"


class Wayback(Dialect):
    """Answers are JSON arrays of rows. If there is more, the last row is a resume key."""

    name = "wayback"
    longest = 16 << 20  # of ROWS captures

    def question(self, wanted: CaptureQuery, answers: Sequence[bytes]) -> str | None:
        """The first question, then one for each resume key."""
        key = _resume_key(answers[-1]) if answers else None
        if answers and key is None:
            return None
        return self._ask(wanted, limit=str(ROWS), showResumeKey="true", gzip="false", resumeKey=key)

    def check(self, body: bytes) -> None:
        """It must be an array."""
        _no_page(body)
        if not isinstance(_json(body), list):
            raise DataError(f"not an array: {_start(body)}; is it another dialect?")
        _resume_key(body)

    def replay(self) -> str:
        """Wayback's CDX server is at ``/cdx/search/cdx``, its mementos are below ``/web/``."""
        return urljoin(self.server, "/web/")


class Pywb(Dialect):
    """Answers have a JSON object, or a line of CDXJ, per line. The captures of a website come in pages."""

    name = "pywb"

    def question(self, wanted: CaptureQuery, answers: Sequence[bytes]) -> str | None:
        """One question; for a website one per page, until a page is refused, empty, or equal to the one before.

        An index without pages answers every page with all of its captures.
        """
        if answers and (not wanted.website or answers[-1] in (NOTHING, *answers[-2:-1])):
            return None
        return self._ask(wanted, page=str(len(answers)) if wanted.website else None)

    def check(self, body: bytes) -> None:
        """The first and the last line must be captures."""
        _no_page(body)
        if body.lstrip().startswith(b"["):
            raise DataError("a JSON array, as the Wayback server gives it; say --dialect wayback")
        text = body.strip()
        for line in (text.partition(b"\n")[0], text.rpartition(b"\n")[2]) if text else ():
            key, brace, rest = line.partition(b"{")
            record = _json(brace + rest)
            if not isinstance(record, dict) or not (key or "timestamp" in record):
                raise DataError(f"not a capture per line: {_start(line)}; is it another dialect?")

    def ends(self, status: int, answers: Sequence[bytes]) -> bool:
        """A page after the last one is refused with 400."""
        return status == 404 or (status == 400 and bool(answers))


class TimeMap(Dialect):
    """Answers are in link format or JSON, without digests; they name the further pages of a TimeMap."""

    name = "timemap"

    def question(self, wanted: CaptureQuery, answers: Sequence[bytes]) -> str | None:
        """The URL's TimeMap, then each further page of it on this server."""
        first = f"{self.server.rstrip('/')}/{quote(wanted.url, safe=_SAFE)}"
        named = [first]
        for answer in answers:
            named += [one for one in _pages(answer) if one not in named and _same_server(one, self.server)]
        return named[len(answers)] if len(answers) < len(named) else None

    def check(self, body: bytes) -> None:
        """It must be a whole TimeMap."""
        _no_page(body)
        text = body.strip()
        if text[:1] in {b"{", b"["}:
            _json(body)
        elif text and (text[:1] != b"<" or not text.endswith((b'"', b">", b",", b";"))):
            raise DataError(f"not a TimeMap, or cut short: {_start(body)} … {text[-20:].decode('utf-8', 'replace')!r}")

    def check_page(self, wanted: CaptureQuery, body: bytes) -> None:
        """Its original must be the URL, in any spelling."""
        originals = _read(body).originals
        if originals and _spelled_alike(wanted.url) not in map(_spelled_alike, originals):
            raise DataError(f"a TimeMap of {min(originals)[:1000]}, not of {wanted.url}")

    def replay(self) -> str:
        """``…/timemap/link`` and the mementos have the same root."""
        root = re.sub(r"timemap/(?:link|json)?/?$", "", self.server)
        return root if root.endswith("/") else f"{root}/"


DIALECTS: dict[str, type[Dialect]] = {one.name: one for one in (Wayback, Pywb, TimeMap)}
_SAFE = ":/?#[]@!$&'()*+,;=%~"


def dialect(server: str, name: str = "auto") -> Dialect:
    """The dialect of this name; ``auto``: told by the server's URL.

    >>> dialect("https://web.archive.org/cdx/search/cdx").name, dialect("http://127.0.0.1:8080/coll/cdx").name
    ('wayback', 'pywb')
    >>> dialect("http://127.0.0.1:8080/coll/timemap/link/").replay()
    'http://127.0.0.1:8080/coll/'
    """
    if name == "auto":
        path = urlsplit(server).path
        name = "timemap" if "/timemap" in path else "wayback" if "/cdx/search" in path else "pywb"
    if name not in DIALECTS:
        raise unknown_name("dialect", name, ["auto", *DIALECTS])
    return DIALECTS[name](server)


def memento(replay: str, stamp: str, url: str) -> str:
    """The URL of a capture as it was stored (``id_``: without banner, with its original links).

    >>> memento("https://web.archive.org/web/", "20200101000000", "http://a.org/")
    'https://web.archive.org/web/20200101000000id_/http://a.org/'
    """
    return f"{replay if replay.endswith('/') else replay + '/'}{stamp}id_/{url}"


def _folder(url: str) -> str:
    """The beginning of the URLs under a seed: a file stands for its folder.

    >>> _folder("http://a.org/~b/index.html"), _folder("http://a.org/~b")
    ('http://a.org/~b/', 'http://a.org/~b')
    """
    parts = urlsplit(url)
    folder, _, name = parts.path.rpartition("/")
    return f"{parts.scheme}://{parts.netloc}{folder}/" if "." in name else url.partition("?")[0]


def _no_page(body: bytes) -> None:
    if _HTML.match(body):
        raise DataError("an HTML page instead of an index")


def _json(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError) as error:
        raise DataError(f"not JSON, or cut short: {_start(body)}") from error


def _start(body: bytes) -> str:
    return repr(body[:60].decode("utf-8", "replace"))


def _resume_key(answer: bytes) -> str | None:
    """The resume key of an answer; ``None``: it is the last. Raises DataError for a key that cannot be sent."""
    rows = _json(answer)
    if len(rows) < 2 or rows[-2] != []:
        return None
    key = rows[-1][0] if isinstance(rows[-1], list) and len(rows[-1]) == 1 else None
    if not isinstance(key, str) or len(key) > LONGEST_KEY or key.encode(errors="ignore").decode() != key:
        raise DataError(f"not a resume key: {repr(rows[-1])[:60]}")
    return key


def _spelled_alike(url: str) -> str:
    """A URL's sort key: without what archives change (case, ``www``, a default port, a slash at the end).

    >>> _spelled_alike("http://WWW.a.org:80/B/"), _spelled_alike("https://a.org/b"), _spelled_alike("http://[x/")
    ('org,a)/b', 'org,a)/b', 'http://[x/')
    """
    try:
        return surt(url).casefold()
    except ValueError:
        return url


def _pages(answer: bytes) -> list[str]:
    """The further pages that a TimeMap names, in a fixed order."""
    return sorted(_read(answer).pages)


def _read(answer: bytes) -> Gathering:
    found, start = Gathering(), answer.lstrip()[:1]
    if start == b"<":
        timemap.read_link_format(answer, "", found)
    elif start == b"[":
        cdx.read_rows(answer, "", found)
    elif document := timemap.is_timemap(answer):
        timemap.read_json(document, "", found)
    else:
        (cdx.read_objects if start == b"{" else cdx.read_cdxj)(answer.splitlines(), "", found)
    return found


def _host(key: str) -> str:
    """The host in a sort key, without its port."""
    return key.partition(")")[0].partition(":")[0]


def _same_server(url: str, server: str) -> bool:
    return urlsplit(url).netloc == urlsplit(server).netloc
