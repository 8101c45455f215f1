"""What a document names, and how its references become absolute URLs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urljoin

from sharc_crawler.addresses.urls import LONGEST_URL
from sharc_crawler.model import Document

#: Links (and again resources) taken from one document: more is a trap, not a page.
LIMIT = 6_000
LONGEST_BASE = 2_083  #: no longer address is asked for; each of a page's links would be as long

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_WEB = re.compile(r"https?://[^/]", re.IGNORECASE)
_SPACES = "".join(map(chr, range(33)))
_INNER = str.maketrans("", "", "\t\r\n")
#: Nothing in it needs escaping.
_SAFE = re.compile(r"[\w.~!$&'()*+,;=:@/?%-]*", re.ASCII)
#: A path that is as it is to be asked for: by far the most links of most sites.
_PATH = r"(?:/[\w~!$&'()*+,;=:@?%-][\w.~!$&'()*+,;=:@?%-]*+)++/?+"
_PLAIN = re.compile(_PATH, re.ASCII)
_ALL_PLAIN = re.compile(rf"{_PATH}(?:\n{_PATH})*+", re.ASCII)
#: A plain path from some folders up: so pages of a documentation name each other.
_NAME = r"[\w~!$&'()*+,=@%-][\w.~!$&'()*+,=@%-]*+"
_UP = re.compile(rf"((?:\.\./)++)({_NAME}(?:/{_NAME})*+/?+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Found:
    """The absolute http(s) URLs that a document names, without fragments, each once, in the order of the document."""

    links: tuple[str, ...]  #: of documents: pages to visit, where the scope admits them
    resources: tuple[str, ...]  #: of what the document needs to be replayed
    base: str  #: what its relative references were resolved against
    left_out: int = 0  #: references after the limit was reached
    document: Document | None = None  #: what is counted of an HTML document
    feeds: tuple[str, ...] = ()  #: RSS and Atom, by autodiscovery; on blogs nearly every page has one of its own
    frames: tuple[str, ...] = ()  #: of the links those of a frameset, whose pages it is shown by
    unread: tuple[str, ...] = ()  #: what of the document was not looked at, as it would cost too much


class Resolver:
    """Makes references absolute, as a browser would: against one base, in one document's encoding."""

    def __init__(self, base: str, encoding: str = "utf-8") -> None:
        self.base = base
        self._encoding = "utf-8" if encoding.startswith(("utf-16", "utf-32")) else encoding  # no query is in these
        self._on_web = _WEB.match(base) is not None  #: else relative references, of a file say, lead to no web page
        scheme, _, rest = base.partition("://")
        host, _, path = rest.partition("?")[0].partition("/")
        self._origin = f"{scheme}://{host}"
        self._plain = self._on_web and _SAFE.fullmatch(self._origin) is not None
        self._folder = f"{self._origin}/{path[: path.rfind('/') + 1]}"
        self._folders = self._folder.split("/")[3:-1]
        self._rises = self._plain and not any(name == "" or name[0] == "." for name in self._folders)

    def all(self, references: Iterable[str], limit: int = LIMIT) -> tuple[tuple[str, ...], int]:
        """The http(s) URLs among the references, each once, in their order; and how many references were left out.

        >>> Resolver("http://h/").all(["a", "mailto:b@c", "a#d", "e", "f"], limit=2)
        (('http://h/a', 'http://h/e'), 1)
        """
        documents = dict.fromkeys(reference.partition("#")[0] for reference in references)
        together = "\n".join(documents)
        if self._plain and _ALL_PLAIN.fullmatch(together) and together.count("\n") < len(documents) <= limit:
            return tuple(map(self._origin.__add__, documents)), 0
        urls: dict[str, None] = {}
        for tried, document in enumerate(documents):
            if len(urls) == limit or tried == 2 * limit:  # many may mean the same, or nothing
                return tuple(urls), len(documents) - tried
            url = self._origin + document if self._plain and _PLAIN.fullmatch(document) else self.one(document)
            if url is not None:
                urls[url] = None
        return tuple(urls), 0

    def one(self, reference: str) -> str | None:
        """The URL that a reference means; ``None`` for another scheme, a place in the document itself, or garbage.

        >>> Resolver("http://h/a/b?c").one(" ../d e#f ")
        'http://h/d%20e'
        >>> [Resolver("http://h/a/b").one(one) for one in ("http:/c", "http:c", "http:///i/c", "https:/c", "ftp:/x")]
        ['http://h/c', 'http://h/a/c', 'http://i/c', None, None]
        >>> Resolver("http://h/").one("//straße.de/ß")
        'http://xn--strae-oqa.de/%C3%9F'
        """
        reference = reference.strip(_SPACES).partition("#")[0]
        if not reference or len(reference) > LONGEST_URL:
            return None
        try:
            url = self._joined(reference)
            if url is None or _SAFE.fullmatch(url):
                return url
            escaped = self._escaped(url)
        except ValueError:
            return None
        return escaped if escaped.isascii() and escaped.isprintable() else None  # no host has such characters

    def _joined(self, reference: str) -> str | None:
        """The absolute URL; the usual spellings without the cost of a full parse."""
        if not reference.isprintable():
            reference = reference.translate(_INNER)
        if self._on_web and "/." not in reference and "\\" not in reference:
            if reference[0] == "/" and reference[1:2] != "/":
                return self._origin + reference
            if reference[0] not in "/.?" and ":" not in reference:
                return self._folder + reference
            if self._rises and (up := _UP.fullmatch(reference)):
                over = self._folders[: max(0, len(self._folders) - len(up[1]) // 3)]
                return "/".join((self._origin, *over, up[2]))
        reference = reference.replace("\\", "/")
        if _SCHEME.match(reference):
            return reference if _WEB.match(reference) else self._odd(reference)
        url = urljoin(self.base, reference)
        return url if _WEB.match(url) else None

    def _odd(self, reference: str) -> str | None:
        """As browsers read ``http:/path``, where the base is of that scheme, and ``http:///host``."""
        scheme, _, rest = reference.partition(":")
        if scheme.lower() not in ("http", "https") or not rest.strip("/"):
            return None
        if rest.startswith("//"):
            return f"{scheme.lower()}://{rest.lstrip('/')}"
        return urljoin(self.base, rest) if self._origin.startswith(f"{scheme.lower()}://") else None

    def _escaped(self, url: str) -> str:
        """The URL as a browser sends it: the path in UTF-8, the query in the document's encoding if it can."""
        from w3lib.url import safe_url_string  # loads much, for few addresses of few sites

        from sharc_crawler.addresses.international import with_ascii_host

        try:
            url = with_ascii_host(url)
            return safe_url_string(url, self._encoding)
        except UnicodeEncodeError:
            return safe_url_string(url)
