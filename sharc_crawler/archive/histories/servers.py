"""How archives are asked what they hold of a seed: Wayback's and pywb's CDX servers, and TimeMaps (RFC 7089).

A dialect knows the next question from the answers so far, so that a series of answers on disk is all there is to go on
with. It asks nothing itself.
"""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar
from urllib.parse import quote, urlencode, urljoin, urlsplit

from sharc_crawler.archive.histories import timemap
from sharc_crawler.archive.histories.gathering import Gathering
from sharc_crawler.archive.surt import surt
from sharc_crawler.errors import DataError, unknown_name

ROWS = 10_000  #: captures in one answer of a Wayback server; more come with a resume key
LONGEST_KEY = 16_384  #: characters of a resume key, which names an address
NOTHING = b"[]\n"  #: kept where an archive has no capture
_HTML = re.compile(rb"\s*<(?:!doctype|html|head|\?xml)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class CaptureQuery:
    """Which captures of which pages an archive is asked for."""

    url: str
    website: bool = False  #: all pages under it too
    since: str | None = None  #: 14 digits


class Dialect(ABC):
    """How one kind of server is asked."""

    name: ClassVar[str]
    longest: ClassVar[int] = 64 << 20  #: bytes of an answer, unpacked; a TimeMap of 400,000 mementos has 56 MB

    def __init__(self, server: str) -> None:
        self.server = server

    @abstractmethod
    def question(self, wanted: CaptureQuery, answers: Sequence[bytes]) -> str | None:
        """The address to fetch after these answers; ``None``: they are all."""

    @abstractmethod
    def check(self, body: bytes) -> None:
        """Raise :class:`~sharc_crawler.errors.DataError` for what is no whole answer."""

    def check_page(self, wanted: CaptureQuery, body: bytes) -> None:  # noqa: B027 - most answer as they are asked
        """Raise :class:`~sharc_crawler.errors.DataError` for what says that it is of another URL."""

    def ends(self, status: int, answers: Sequence[bytes]) -> bool:  # noqa: ARG002
        """Whether a refusal says that there is nothing (more), rather than that something is wrong."""
        return status == 404

    def replay(self) -> str:
        """What addresses of mementos start with."""
        return urljoin(self.server, ".")

    def _ask(self, **fields: str | None) -> str:
        known = {name: value for name, value in fields.items() if value is not None}
        return f"{self.server}{'&' if '?' in self.server else '?'}{urlencode(known)}"


class Wayback(Dialect):
    """An array of rows; its last row is a key to go on with where there is more."""

    name = "wayback"
    longest = 16 << 20  # of ROWS captures

    def question(self, wanted: CaptureQuery, answers: Sequence[bytes]) -> str | None:
        """The next question: one for each resume key."""
        key = _resume_key(answers[-1]) if answers else None
        if answers and key is None:
            return None
        return self._ask(
            url=_folder(wanted.url) if wanted.website else wanted.url,
            matchType="prefix" if wanted.website else None,
            output="json",
            limit=str(ROWS),
            showResumeKey="true",
            gzip="false",
            **{"from": wanted.since},
            resumeKey=key,
        )

    def check(self, body: bytes) -> None:
        """An array."""
        _no_page(body)
        if not isinstance(_json(body), list):
            raise DataError(f"not an array: {_start(body)}; is it another dialect?")
        _resume_key(body)

    def replay(self) -> str:
        """Wayback's CDX server is at ``/cdx/search/cdx``, its mementos below ``/web/``."""
        return urljoin(self.server, "/web/")


class Pywb(Dialect):
    """An object, or a line of CDXJ, per line; what lies under a seed comes page by page."""

    name = "pywb"

    def question(self, wanted: CaptureQuery, answers: Sequence[bytes]) -> str | None:
        """One question; under a seed one per page, until a page is refused, empty, or the same as the one before.

        An index that is not cut into pages gives all of it for every page.
        """
        if answers and (not wanted.website or answers[-1] in (NOTHING, *answers[-2:-1])):
            return None
        return self._ask(
            url=_folder(wanted.url) if wanted.website else wanted.url,
            matchType="prefix" if wanted.website else None,
            output="json",
            **{"from": wanted.since},
            page=str(len(answers)) if wanted.website else None,
        )

    def check(self, body: bytes) -> None:
        """Every line is a capture; the last one is whole."""
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
    """Link format or JSON; other pages of a TimeMap are named in it. There are no digests in it."""

    name = "timemap"

    def question(self, wanted: CaptureQuery, answers: Sequence[bytes]) -> str | None:
        """The TimeMap of the page, then the pages that it names on this server, each once."""
        first = f"{self.server.rstrip('/')}/{quote(wanted.url, safe=_SAFE)}"
        named = [first]
        for answer in answers:
            named += [one for one in _pages(answer) if one not in named and _same_server(one, self.server)]
        return named[len(answers)] if len(answers) < len(named) else None

    def check(self, body: bytes) -> None:
        """A TimeMap, to its end."""
        _no_page(body)
        text = body.strip()
        if text[:1] in {b"{", b"["}:
            _json(body)
        elif text and (text[:1] != b"<" or not text.endswith((b'"', b">", b",", b";"))):
            raise DataError(f"not a TimeMap, or cut short: {_start(body)} … {text[-20:].decode('utf-8', 'replace')!r}")

    def check_page(self, wanted: CaptureQuery, body: bytes) -> None:
        """Its original is the page, in whatever spelling."""
        originals = _read(body).originals
        if originals and _spelled_alike(wanted.url) not in map(_spelled_alike, originals):
            raise DataError(f"a TimeMap of {min(originals)[:1000]}, not of {wanted.url}")

    def replay(self) -> str:
        """``…/timemap/link`` and the mementos have one root."""
        root = re.sub(r"timemap/(?:link|json)?/?$", "", self.server)
        return root if root.endswith("/") else f"{root}/"


DIALECTS: dict[str, type[Dialect]] = {one.name: one for one in (Wayback, Pywb, TimeMap)}
_SAFE = ":/?#[]@!$&'()*+,;=%~"


def dialect(server: str, name: str = "auto") -> Dialect:
    """The dialect of a name; ``auto``: as the address says.

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
    """The address of a capture as it was stored (``id_``: without banner, links as they were).

    >>> memento("https://web.archive.org/web/", "20200101000000", "http://a.org/")
    'https://web.archive.org/web/20200101000000id_/http://a.org/'
    """
    return f"{replay if replay.endswith('/') else replay + '/'}{stamp}id_/{url}"


def _folder(url: str) -> str:
    """What the addresses of pages under a seed start with: a file stands for its folder.

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
    """What an answer says to go on with; ``None``: it is the last. Raises DataError for a key that cannot be sent."""
    rows = _json(answer)
    if len(rows) < 2 or rows[-2] != []:
        return None
    key = rows[-1][0] if isinstance(rows[-1], list) and len(rows[-1]) == 1 else None
    if not isinstance(key, str) or len(key) > LONGEST_KEY or key.encode(errors="ignore").decode() != key:
        raise DataError(f"not a resume key: {repr(rows[-1])[:60]}")
    return key


def _spelled_alike(url: str) -> str:
    """A URL without what archives change of it: case, ``www``, a port that is usual, a slash at the end.

    >>> _spelled_alike("http://WWW.a.org:80/B/"), _spelled_alike("https://a.org/b"), _spelled_alike("http://[x/")
    ('org,a)/b', 'org,a)/b', 'http://[x/')
    """
    try:
        return surt(url).casefold()
    except ValueError:
        return url


def _pages(answer: bytes) -> list[str]:
    """Other pages that a TimeMap names, in a fixed order."""
    return sorted(_read(answer).pages)


def _read(answer: bytes) -> Gathering:
    found = Gathering()
    if document := timemap.is_timemap(answer):
        timemap.read_json(document, "", found)
    elif answer.lstrip().startswith(b"<"):
        timemap.read_link_format(answer, "", found)
    return found


def _same_server(url: str, server: str) -> bool:
    return urlsplit(url).netloc == urlsplit(server).netloc
