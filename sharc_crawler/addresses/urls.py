"""Canonical URLs: one form for every spelling of a URL.

The canonical URL is the identity that is stored and compared; the URL as found is requested.
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
#: paths that need no normalising: plain characters, upper-case escapes of non-ASCII bytes, no segment that begins with
#: a dot
_PLAIN_PATH = re.compile(r"(?:/(?:[\w~!$'*+,:@=-](?:[\w.~!$'*+,:@=-]++|%[89A-F][0-9A-F])*+)?+)++", re.ASCII)
PLAIN_NAME = re.compile(r"(?:[\w~!$'*+,:@=-][\w.~!$'*+,:@=-]*+)?+", re.ASCII)  # the last segment
_PLAIN_QUERY = re.compile(r"\?[\w.~-]++=[\w.~-]*+(?:&[\w.~-]++=[\w.~-]*+)*+", re.ASCII)
_BARE_HOST = re.compile(r"(localhost|[\w-]+(\.[\w-]+)+)(:\d+)?(/|$)")
_DEFAULT_PORT = {"http": 80, "https": 443}
_HIGHEST_PORT = 65_535
_LONGEST_HOST = 253
LONGEST_URL = 16_384  #: characters; no server takes more, and hostile pages must not cost more time
USUAL = 500
#: characters that the URL Standard removes: outer controls and spaces, inner tabs and newlines
_OUTER = "".join(map(chr, range(33)))
_INNER = str.maketrans("", "", "\t\r\n")


#: query parameters (``name=value``) that do not distinguish pages: session ids, tracking, a blog's reply form, Koha's
#: search. Not among them: a short ``session_id`` (of a conference's talks), ``s``, which may sign images, and a value
#: with a semicolon, behind which another parameter may begin (``PHPSESSID=1;topic=7``)
_PARAMETERS = re.compile(
    r"(?:jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken"
    r"|utm_\w+|fbclid|gclid|gclsrc|dclid|msclkid|yclid|igshid|mc_[ce]id|_ga|_gl|replytocom|query_desc)(?:=(?:(?!%3B)[^&;])*)?"
    r"|(?:\w*sid|sess\w*|zenid)=(?=[^=]*\d)[0-9a-z]{26,64}|(?<=\.php\?)s=(?:[0-9a-f]{8}){4,5}",
    re.IGNORECASE,
)
#: forms to log in or sign up, and parameters that name the page to return to (``?next=/page/7``): they do not
#: distinguish pages. A number names none: a register's ``?next=20``
FORMS = r"/(?:(?:wp-)?log[-_]?in(?:[-_](?:page|form))?|sign[-_]?(?:in|up)|register)(?:\.\w+)?/?"
LEADS_ON = r"(?:next|continue|back_?url|came_from|(?:os_)?destination|re(?:turn|direct)_?(?:to|url)?)=(?!\d+(?:&|$)).*"
#: the same for path parameters (``;name=value``) and path segments
_IN_PATH = re.compile(r";jsessionid=[^/;]*|/\(S\([a-z0-9]{24}\)\)(?=/|$)", re.IGNORECASE)
_CREDENTIALS = re.compile(r"((?:[a-z][a-z0-9+.-]*:)?[/\\]{2})[^/?#\\]*@", re.IGNORECASE)


def without_credentials(url: str) -> str:
    """Return a URL without user name and password, for reports, logs and requests.

    >>> without_credentials("http://me:secret@h.example/a@b"), without_credentials("http://h.example/?m=a@b")
    ('http://h.example/a@b', 'http://h.example/?m=a@b')
    """
    return _CREDENTIALS.sub(r"\1", url, count=1) if "@" in url else url


def canonical(url: str) -> Url | None:
    """Return the canonical form of an absolute http(s) URL; ``None`` if it is not one.

    Scheme and host become lower case, the host ASCII (IDNA), without default port and final dot. Percent-encoding and
    dot segments are normalised, query parameters sorted; fragment, session ids and tracking are dropped. Idempotent.

    >>> canonical("HTTP://WWW.Example.org:80/a/../b%7e?z=1&utm_source=x&a=2#top")
    'http://www.example.org/b~?a=2&z=1'
    >>> canonical("mailto:someone@example.org") is None
    True
    """
    return Url(url) if is_usual(url) else _long_way(url)


def is_usual(url: str) -> bool:
    """Is the URL surely canonical, by a quick check? (The full check of a megabyte takes up to two seconds.)"""
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


@lru_cache(maxsize=1_000)  # most URLs lie in few folders
def is_plain(folder: str) -> bool:
    """Is a folder's URL canonical and without a query?"""
    whole = _PARTS.fullmatch(folder)
    return whole is not None and whole[3] != "" and not whole[4] and _long_way(folder) == folder


@lru_cache(maxsize=65_536)
def _origin(scheme: str, authority: str) -> str | None:
    """Return ``scheme://host[:port]`` in canonical form; ``None`` for a user, a bad host or port."""
    try:
        ascii_form = authority.lower()
        if not authority.isascii():
            from sharc_crawler.addresses.international import ascii_authority  # rare

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
    """Return the query without parameters that do not distinguish pages, sorted by name and value."""
    if _logs_in(path):
        pairs = [pair for pair in pairs if not re.fullmatch(LEADS_ON, pair, re.IGNORECASE)]
    kept = [tuple(pair.split("=", 1)) for pair in pairs if not _PARAMETERS.fullmatch(f"{path}?{pair}", len(path) + 1)]
    return "?" + "&".join("=".join(pair) for pair in sorted(kept)) if kept else ""


@lru_cache(maxsize=256)  # many addresses differ in their query alone
def _logs_in(path: str) -> bool:
    """Whether a path is that of a form to log in or sign up."""
    return re.search(FORMS + "$", path, re.IGNORECASE) is not None


@lru_cache(maxsize=256)  # pages name the same URLs again and again
def _normalised(origin: str, path: str, query: str) -> Url | None:
    """Normalise with w3lib; repeat if dropping a part of the path leaves a dot segment."""
    from w3lib.url import canonicalize_url  # slow to import; processes beside a crawl do not need it

    try:
        url = canonicalize_url(f"http://h{path}{query}#")  # "#" keeps a blank at the end
    except ValueError:
        return None
    clean, _, query = url.removeprefix("http://h").partition("?")
    path = _IN_PATH.sub("", clean)
    if path != clean:
        return _normalised(origin, path, f"?{query}")
    return Url(origin + path + (_kept(path, query.split("&")) if query else ""))


def require(url: str) -> Url:
    """Return the canonical form of a URL given by a person; raise :class:`UsageError` if it is not a URL."""
    found = canonical(url)
    if found is None:
        raise UsageError(
            f"url={url!r} is not a web address; give one like http://www.example.org/ (no user or password)"
        )
    return found


def with_scheme(text: str) -> str:
    """Add ``https://`` to a bare host name given by a person.

    >>> with_scheme("www.example.org/a"), with_scheme("http://example.org")
    ('https://www.example.org/a', 'http://example.org')
    """
    return f"https://{text}" if _BARE_HOST.match(text) else text


def host_of(url: str) -> str:
    """Return the host of a canonical URL, with any port other than the scheme's default.

    >>> host_of("http://example.org:8080/a"), host_of("https://example.org/a")
    ('example.org:8080', 'example.org')
    """
    return url.split("/", 3)[2]


def machine_of(host: str) -> str:
    """Return the common name of hosts that are nearly always one machine, without ``www.`` and a final dot.

    >>> machine_of("www.example.org:8080"), machine_of("WWW.example.org."), machine_of("www.org")
    ('example.org:8080', 'example.org', 'www.org')
    """
    name, colon, port = host.lower().partition(":") if not host.startswith("[") else (host, "", "")
    name = name.removesuffix(".")
    bare = name.removeprefix("www.")
    return (bare if "." in bare else name) + colon + port


def url_class(url: str) -> str:
    """Return a URL's class, within which evidence is shared: first folder of the path, and the file's extension.

    >>> url_class("http://h/blog/2011/post.html?x=1"), url_class("http://h/about")
    ('/blog/*.html', '/*')
    """
    path: str = _PATH.match(url)[1]  # type: ignore[index] # matches any text
    folder, slash, _ = path.lstrip("/").partition("/")
    stem, dot, extension = path.rpartition("/")[2].rpartition(".")
    ending = dot + extension.lower() if stem.strip(".") else ""  # a name with only a leading dot has none
    return f"/{folder if slash else ''}{slash}*{ending}"
