"""Sort keys of URLs (SURT): ``com,example)/path?query``, which keep a site's pages together in an index.

The rules are those of replay tools: the host is reversed without ``www``, all is in lower case, the query's parameters
are sorted, session ids dropped. This is own code, because the common library has a copyleft licence.
"""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

_WWW = re.compile(r"^www\d*\.")
_DEFAULT_PORTS = {"http": 80, "https": 443, "ftp": 21}
_PLAIN = re.compile(r"[!$&-~\"]*")  # text that neither decoding nor encoding changes
_KEPT = frozenset(range(0x21, 0x7F)) - set(b"#%")
_SESSION = re.compile(
    r"(?:^|(?<=&))(?:(?:jsessionid|phpsessid|sid)=[0-9a-z]{32}|aspsessionid[a-z]{8}=[a-z]{24}|cfid=[^&]+&cftoken=[^&]+)"
    r"(?:&|$)"
)


def surt(url: str) -> str:
    """The sort key of a URL; a URL without a host is its own key.

    >>> surt("https://www.Example.org:443/A//b/../c/?b=2&a=%41#part")
    'org,example)/a/c?a=a&b=2'
    """
    scheme, place, path, query, _ = urlsplit(url.strip())
    host = _host(scheme, place)
    if host is None:
        return url
    query = query and "&".join(sorted(_session_free(_normal(query)).split("&")))
    return f"{host}){_path(path)}" + (f"?{query}" if query else "")


@lru_cache(256)  # consecutive URLs often have the same host
def _host(scheme: str, place: str) -> str | None:
    parts = SplitResult(scheme, place, "", "", "")
    if not parts.hostname:
        return None
    name = _WWW.sub("", parts.hostname.rstrip("."))
    port = "" if parts.port in {None, _DEFAULT_PORTS.get(parts.scheme)} else f":{parts.port}"
    return ",".join(reversed(name.split("."))) + port


def _path(path: str) -> str:
    steps: list[str] = []
    for step in _normal(path).split("/"):
        if step == "..":
            steps = steps[:-1]
        elif step not in {"", "."}:
            steps.append(step)
    return "/" + "/".join(steps)


def _session_free(query: str) -> str:
    return _SESSION.sub("", query).removesuffix("&") if _SESSION.search(query) else query


def _normal(text: str) -> str:
    """Percent-decode until nothing changes, then encode only what a key needs, in lower case."""
    if _PLAIN.fullmatch(text):
        return text.lower()
    data = text.encode("utf-8", "surrogatepass")
    while (decoded := unquote_to_bytes(data)) != data:
        data = decoded
    return "".join(chr(byte) if byte in _KEPT else f"%{byte:02x}" for byte in data).lower()
