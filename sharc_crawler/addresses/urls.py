"""Canonical URLs: one name for every spelling of an address.

The canonical URL is an identity (what is seen, stored and compared); the URL as found is what is requested.
"""

from __future__ import annotations

import re
from functools import lru_cache
from ipaddress import IPv6Address

from sharc_crawler.errors import UsageError
from sharc_crawler.model import Url

_PATH = re.compile(r"(?:[^:/?#]+:)?(?://[^/?#]*)?([^?#]*)")  # RFC 3986, appendix B
_PARTS = re.compile(r"(https?)://([^/?#\\]{1,260})(?![^/?#\\])([^?#]*)(\?[^#]*)?", re.IGNORECASE)
_AUTHORITY = re.compile(r"(\[[0-9a-f:.]+\]|[\w-]+(?:\.[\w-]+)*)\.?(?::(\d{0,5}))?", re.ASCII)
#: What needs no normalising: plain characters, no segment that begins with a dot, and upper-case escapes of bytes
#: that are not ASCII.
_PLAIN_PATH = re.compile(r"(?:/(?:[\w~!$'*+,:@=-](?:[\w.~!$'*+,:@=-]++|%[89A-F][0-9A-F])*+)?+)++", re.ASCII)
PLAIN_NAME = re.compile(r"(?:[\w~!$'*+,:@=-][\w.~!$'*+,:@=-]*+)?+", re.ASCII)  # the last segment
_PLAIN_QUERY = re.compile(r"\?[\w.~-]++=[\w.~-]*+(?:&[\w.~-]++=[\w.~-]*+)*+", re.ASCII)
_BARE_HOST = re.compile(r"(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?(/|$)")
_DEFAULT_PORT = {"http": 80, "https": 443}
_HIGHEST_PORT = 65_535
_LONGEST_HOST = 253
LONGEST_URL = 16_384  #: no server takes a longer one; a bound on the time that hostile pages cost
USUAL = 500
#: What the URL Standard removes before it reads an address: outer controls and spaces, inner tabs and newlines.
_OUTER = "".join(map(chr, range(33)))
_INNER = str.maketrans("", "", "\t\r\n")


#: Query parameters (``name=value``) that do not tell one page from another: session ids, tracking, a blog's reply form
#: below its post, Koha's search for one. A ``session_id`` that tells talks apart looks like none, ``s`` signs images.
_PARAMETERS = re.compile(
    r"(?:jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken"
    r"|utm_\w+|fbclid|gclid|gclsrc|dclid|msclkid|yclid|igshid|mc_[ce]id|_ga|_gl|replytocom|query_desc)(?:=.*)?"
    r"|(?:\w*sid|sess\w*|zenid)=(?=[^=]*\d)[0-9a-z]{26,64}|(?<=\.php\?)s=(?:[0-9a-f]{8}){4,5}",
    re.IGNORECASE,
)
#: Forms to log in or sign up, and what says where they lead on to (``?next=/page/7``): that tells none from another.
FORMS = r"/(?:(?:wp-)?log[-_]?in|sign[-_]?(?:in|up)|register)(?:\.\w+)?/?"
LEADS_ON = r"(?:next|continue|back_?url|came_from|(?:os_)?destination|re(?:turn|direct)(?:_?(?:to|url))?)=.*"
#: Path parameters (``;name=value``) and path segments, the same.
_IN_PATH = re.compile(r";jsessionid=[^/;]*|/\(S\([a-z0-9]{24}\)\)(?=/|$)", re.IGNORECASE)
_CREDENTIALS = re.compile(r"((?:[a-z][a-z0-9+.-]*:)?[/\\]{2})[^/?#\\]*@", re.IGNORECASE)


def without_credentials(url: str) -> str:
    """A URL without a user's name and password: they go into no report, no log and no request.

    >>> without_credentials("http://me:secret@h.example/a@b"), without_credentials("http://h.example/?m=a@b")
    ('http://h.example/a@b', 'http://h.example/?m=a@b')
    """
    return _CREDENTIALS.sub(r"\1", url, count=1) if "@" in url else url


def canonical(url: str) -> Url | None:
    """The canonical form of an absolute http(s) URL; ``None`` for what is none.

    Scheme and host in lower case, host in ASCII (IDNA), without default port and final dot; percent-encoding and dot
    segments normalised, query parameters sorted, the fragment, session ids and tracking dropped. Idempotent.

    >>> canonical("HTTP://WWW.Example.org:80/a/../b%7e?z=1&utm_source=x&a=2#top")
    'http://www.example.org/b~?a=2&z=1'
    >>> canonical("mailto:someone@example.org") is None
    True
    """
    return Url(url) if is_usual(url) else _long_way(url)


def is_usual(url: str) -> bool:
    """Is it canonical, as most are, and soon told so? Of others it takes up to two seconds for a megabyte."""
    cut = url.rfind("/") + 1
    return len(url) <= USUAL and PLAIN_NAME.fullmatch(url, cut) is not None and is_plain(url[:cut])


def _long_way(url: str) -> Url | None:
    url = url.strip(_OUTER)
    match = _PARTS.match(url if url.isprintable() else url.translate(_INNER))
    origin = match and _origin(match[1].lower(), match[2])
    if match is None or origin is None or len(url) > LONGEST_URL:
        return None
    path, query = match[3], match[4]
    if _PLAIN_PATH.fullmatch(path) and not _IN_PATH.search(path):
        if not query:
            return Url(origin + path)
        if _PLAIN_QUERY.fullmatch(query):
            return Url(origin + path + _kept(path, query[1:].split("&")))
    return _normalised(origin, path, query or "")


@lru_cache(maxsize=1_000)  # most addresses lie in few folders
def is_plain(folder: str) -> bool:
    """Whether a folder's URL is canonical and has no query."""
    whole = _PARTS.fullmatch(folder)
    return whole is not None and whole[3] != "" and not whole[4] and _long_way(folder) == folder


@lru_cache(maxsize=65_536)
def _origin(scheme: str, authority: str) -> str | None:
    """``scheme://host[:port]`` in canonical form; ``None`` for a user, a bad host or port."""
    try:
        ascii_form = authority.lower()
        if not authority.isascii():
            from sharc_crawler.addresses.international import ascii_authority  # few hosts have other letters

            ascii_form = ascii_authority(authority)
        match = _AUTHORITY.fullmatch(ascii_form)
        host = match and (f"[{IPv6Address(match[1][1:-1]).compressed}]" if match[1][0] == "[" else match[1])
    except ValueError:
        return None
    if match is None or not host or len(host) > _LONGEST_HOST:
        return None
    port = int(match[2] or _DEFAULT_PORT[scheme])
    if not 0 < port <= _HIGHEST_PORT:
        return None
    return f"{scheme}://{host}" if port == _DEFAULT_PORT[scheme] else f"{scheme}://{host}:{port}"


def _kept(path: str, pairs: list[str]) -> str:
    """The query without what tells no page, sorted by name and value."""
    if re.search(FORMS + "$", path, re.IGNORECASE):
        pairs = [pair for pair in pairs if not re.fullmatch(LEADS_ON, pair, re.IGNORECASE)]
    kept = [tuple(pair.split("=", 1)) for pair in pairs if not _PARAMETERS.fullmatch(f"{path}?{pair}", len(path) + 1)]
    return "?" + "&".join("=".join(pair) for pair in sorted(kept)) if kept else ""


@lru_cache(maxsize=256)  # pages name the same ones again and again
def _normalised(origin: str, path: str, query: str) -> Url | None:
    """The long way, by w3lib; repeated where leaving out a part of the path uncovers a dot segment."""
    from w3lib.url import canonicalize_url  # with what speaks HTTP in Python: processes beside a crawl need none

    try:
        url = canonicalize_url(f"http://h{path}{query}#")  # a blank before the fragment is asked for
    except ValueError:
        return None
    clean, _, query = url.removeprefix("http://h").partition("?")
    path = _IN_PATH.sub("", clean)
    if path != clean:
        return _normalised(origin, path, f"?{query}")
    return Url(origin + path + (_kept(path, query.split("&")) if query else ""))


def require(url: str) -> Url:
    """:func:`canonical` for an address that a person gave; :class:`UsageError` where it is none."""
    found = canonical(url)
    if found is None:
        raise UsageError(
            f"url={url!r} is not a web address; give one like http://www.example.org/ (no user or password)"
        )
    return found


def with_scheme(text: str) -> str:
    """What a person wrote, with ``https://`` before a bare host name.

    >>> with_scheme("www.example.org/a"), with_scheme("http://example.org")
    ('https://www.example.org/a', 'http://example.org')
    """
    return f"https://{text}" if _BARE_HOST.match(text) else text


def host_of(url: str) -> str:
    """Host of a canonical URL, with the port where it is not the scheme's own: one politeness.

    >>> host_of("http://example.org:8080/a"), host_of("https://example.org/a")
    ('example.org:8080', 'example.org')
    """
    return url.split("/", 3)[2]


def machine_of(host: str) -> str:
    """What hosts have in common that are nearly always one machine: ``www.`` and a final dot make no difference.

    >>> machine_of("www.example.org:8080"), machine_of("WWW.example.org."), machine_of("www.org")
    ('example.org:8080', 'example.org', 'www.org')
    """
    name, colon, port = host.lower().partition(":") if not host.startswith("[") else (host, "", "")
    name = name.removesuffix(".")
    bare = name.removeprefix("www.")
    return (bare if "." in bare else name) + colon + port


def url_class(url: str) -> str:
    """The class of URLs that evidence about one tells of: first folder of its path, and the file's extension.

    >>> url_class("http://h/blog/2011/post.html?x=1"), url_class("http://h/about")
    ('/blog/*.html', '/*')
    """
    path: str = _PATH.match(url)[1]  # type: ignore[index] # matches any text
    folder, slash, _ = path.lstrip("/").partition("/")
    stem, dot, extension = path.rpartition("/")[2].rpartition(".")
    ending = dot + extension.lower() if stem.strip(".") else ""  # a name that begins with its only dot has none
    return f"/{folder if slash else ''}{slash}*{ending}"
