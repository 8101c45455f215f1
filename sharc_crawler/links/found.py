"""The references of a document, and how to make them absolute."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urljoin

from sharc_crawler.addresses.urls import LONGEST_URL
from sharc_crawler.model import Document

#: Most links, and most resources, of a document: more is a trap, not a page.
LIMIT = 6_000
LONGEST_BASE = 2_083  #: most characters of a base URL, as longer URLs are not requested

_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*:", re.IGNORECASE)
_WEB = re.compile(r"https?://[^/]", re.IGNORECASE)
_SPACES = "".join(map(chr, range(33)))
_INNER = str.maketrans("", "", "\t\r\n")
#: A URL without characters to escape.
_SAFE = re.compile(r"[\w.~!$&'()*+,;=:@/?%-]*", re.ASCII)
#: A path that needs no processing, like most links of most sites.
_PATH = r"(?:/[\w~!$&'()*+,;=:@?%-][\w.~!$&'()*+,;=:@?%-]*+)++/?+"
_PLAIN = re.compile(_PATH, re.ASCII)
_ALL_PLAIN = re.compile(rf"{_PATH}(?:\n{_PATH})*+", re.ASCII)
#: A plain path with leading ``../``, as in links between pages of a documentation.
_NAME = r"[\w~!$&'()*+,=@%-][\w.~!$&'()*+,=@%-]*+"
_UP = re.compile(rf"((?:\.\./)++)({_NAME}(?:/{_NAME})*+/?+)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Found:
    """The absolute http(s) URLs in a document, without fragments and duplicates, in order."""

    links: tuple[str, ...]  #: documents, to be visited if they are in scope
    resources: tuple[str, ...]  #: resources needed to replay the document
    base: str  #: base URL of relative references
    left_out: int = 0  #: number of references beyond the limit
    document: Document | None = None  #: counts of an HTML document
    feeds: tuple[str, ...] = ()  #: RSS and Atom feeds, by autodiscovery; in blogs nearly every page has its own
    frames: tuple[str, ...] = ()  #: links in a frameset
    unread: tuple[str, ...] = ()  #: parts of the document that were not read, as that would be too costly


class Resolver:
    """Makes references of a document absolute, as a browser does, with its base URL and encoding."""

    def __init__(self, base: str, encoding: str = "utf-8") -> None:
        self.base = base
        self._encoding = "utf-8" if encoding.startswith(("utf-16", "utf-32")) else encoding  # never used in queries
        self._on_web = _WEB.match(base) is not None  #: if not, relative references are no web URLs
        scheme, _, rest = base.partition("://")
        host, _, path = rest.partition("?")[0].partition("/")
        self._origin = f"{scheme}://{host}"
        self._plain = self._on_web and _SAFE.fullmatch(self._origin) is not None
        self._folder = f"{self._origin}/{path[: path.rfind('/') + 1]}"
        self._folders = self._folder.split("/")[3:-1]
        self._rises = self._plain and not any(name == "" or name[0] == "." for name in self._folders)

    def all(self, references: Iterable[str], limit: int = LIMIT) -> tuple[tuple[str, ...], int]:
        """The http(s) URLs of references, without duplicates, in order; and how many references were left out.

        >>> Resolver("http://h/").all(["a", "mailto:b@c", "a#d", "e", "f"], limit=2)
        (('http://h/a', 'http://h/e'), 1)
        """
        documents = dict.fromkeys(reference.partition("#")[0] for reference in references)
        together = "\n".join(documents)
        if self._plain and _ALL_PLAIN.fullmatch(together) and together.count("\n") < len(documents) <= limit:
            return tuple(map(self._origin.__add__, documents)), 0
        urls: dict[str, None] = {}
        for tried, document in enumerate(documents):
            if len(urls) == limit or tried == 2 * limit:  # many may be duplicates, or invalid
                return tuple(urls), len(documents) - tried
            url = self._origin + document if self._plain and _PLAIN.fullmatch(document) else self.one(document)
            if url is not None:
                urls[url] = None
        return tuple(urls), 0

    def one(self, reference: str) -> str | None:
        """The URL of a reference; ``None`` for another scheme, a fragment of the document itself, or garbage.

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
        return escaped if escaped.isascii() and escaped.isprintable() else None  # else the host is invalid

    def _joined(self, reference: str) -> str | None:
        """The absolute URL; common forms are handled without full parsing."""
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
        """``http:/path`` (with a base of the same scheme) and ``http:///host``, as browsers read them."""
        scheme, _, rest = reference.partition(":")
        if scheme.lower() not in ("http", "https") or not rest.strip("/"):
            return None
        if rest.startswith("//"):
            return f"{scheme.lower()}://{rest.lstrip('/')}"
        return urljoin(self.base, rest) if self._origin.startswith(f"{scheme.lower()}://") else None

    def _escaped(self, url: str) -> str:
        """The URL as a browser sends it: the path in UTF-8, the query in the document's encoding if possible."""
        from w3lib.url import safe_url_string  # slow to load, and rarely needed

        from sharc_crawler.addresses.international import with_ascii_host

        try:
            url = with_ascii_host(url)
            return safe_url_string(url, self._encoding)
        except UnicodeEncodeError:
            return safe_url_string(url)
