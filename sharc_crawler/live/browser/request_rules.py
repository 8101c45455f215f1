"""| Which requests of a page may reach the crawl (whose guards come after that). Pure."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sharc_crawler.archive.posted import sent, with_method

if TYPE_CHECKING:
    from sharc_crawler.login import Login

_FETCHED = ("XHR", "Fetch")  # the protocol's names for what scripts fetch
_NAMELESS = "Other"  # the name for JSON modules and what is preloaded for scripts, but also worker scripts and icons
STREAM = "text/event-stream"  #: what an EventSource accepts; the protocol gives it no kind of its own here
METHODS = ("POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS")  #: that are named; a script may make up others
MOST_REQUESTS = 400  #: of one page
TOO_MANY = f"requests after its first {MOST_REQUESTS}"
MOST_HANDED = 256 << 20  #: bytes, after which one page is given no further answer
TOO_LARGE = f"answers after its first {MOST_HANDED >> 20} MiB"
MOST_SENT = 1 << 20  #: bytes of one POST
#: what the crawl says itself, or what speaks of the browser and not of what is wanted
_OWN_HEADERS = {
    "accept-encoding", "cache-control", "connection", "cookie", "host", "if-modified-since", "if-none-match", "origin",
    "pragma", "referer", "upgrade-insecure-requests", "user-agent",
}  # fmt: skip
_USUAL = {"accept": "*/*"}  #: what a script's request says where the script does not
#: names of headers whose values differ each time, and choose nothing: traces, tokens against forgery
_CHANCE = re.compile(
    r"traceparent|tracestate|(trace|span|request|correlation)-?id|baggage|sentry|newrelic|datadog|^b3$|x-b3|csrf|xsrf"
    r"|verificationtoken",
    re.IGNORECASE,
)


def why_not(event: dict[str, Any], before: int, *, posts: bool) -> str:
    """Why a request may not pass, as number ``before`` of its page; "": it may."""
    request = event["request"]
    if not request["url"].startswith(("http://", "https://")):
        return "requests that are not http"
    if request["method"] != "GET" and (why := _why_not_sent(event, posts=posts)):
        return why
    if STREAM in (request["headers"].get("Accept"), request["headers"].get("accept")):
        return "a stream of events: its answer has no end"
    if before >= MOST_REQUESTS:
        return TOO_MANY
    return ""


def _why_not_sent(event: dict[str, Any], *, posts: bool) -> str:
    """Why a request that may have an effect is not sent; "": it is."""
    request = event["request"]
    if request["method"] != "POST":
        method = request["method"] if request["method"] in METHODS else "other"
        return f"{method} requests: only what can be asked for without effect is"
    if not posts:
        return "POST requests: only what can be asked for without effect is (post=1 sends them, too)"
    if event["resourceType"] not in _FETCHED:
        return "POST requests of forms and beacons: those of scripts that want an answer are sent"
    body = body_of(request)
    return "" if body is not None and len(body) <= MOST_SENT else f"POST requests with over {MOST_SENT:,} bytes"


def is_data(kind: str, headers: Mapping[str, str]) -> bool:
    """Is the request part of what the page says? What is prefetched for a later page is not.

    A request without a kind is data if scripts can read the answer: then it has an origin.

    >>> is_data("XHR", {}), is_data("Fetch", {"Sec-Purpose": "prefetch"})
    (True, False)
    >>> is_data("Other", {"Origin": "http://h"}), is_data("Other", {"Accept": "*/*"})
    (True, False)
    """
    if field(headers, "Sec-Purpose"):
        return False
    return kind in _FETCHED or (kind == _NAMELESS and field(headers, "Origin") is not None)


def preflight(request: dict[str, Any], *, session: bool) -> list[tuple[str, str]] | None:
    """The headers that allow a cross-origin request, whose passing is then judged by itself.

    The host is not asked, as the crawl's request has no origin. So in a ``session`` nothing with an effect is allowed:
    one site's scripts might act on another by its cookies. ``None``: not allowed, or no preflight.
    """
    headers = request["headers"]
    method, origin = (field(headers, name) for name in ("Access-Control-Request-Method", "Origin"))
    if request["method"] != "OPTIONS" or not method or not origin or (session and method not in ("GET", "HEAD")):
        return None
    allowed = {"Origin": origin, "Credentials": "true", "Methods": method}
    if names := field(headers, "Access-Control-Request-Headers"):
        allowed["Headers"] = names
    return [(f"Access-Control-Allow-{name}", value) for name, value in allowed.items()]


def body_of(request: dict[str, Any]) -> bytes | None:
    """The body of a request; ``None``: unknown, or too large for the protocol."""
    if not request.get("hasPostData"):
        return b""
    parts = request.get("postDataEntries")
    if not parts or any("bytes" not in part for part in parts):
        return None
    return b"".join(b64decode(part["bytes"]) for part in parts)


def field(headers: Mapping[str, str], name: str) -> str | None:
    """A header, whatever the case of its name."""
    return next((value for own, value in headers.items() if own.lower() == name.lower()), None)


def passed_on(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers of a page's request that the crawl sends: those that say what is wanted.

    Of a part in bytes the whole is asked for.

    >>> passed_on({"Referer": "http://h/", "range": "bytes=0-9", "HX-Request": "true", "Sec-Fetch-Mode": "cors"})
    {'HX-Request': 'true'}
    """
    return {
        name: value
        for name, value in headers.items()
        if (own := name.lower()) not in _OWN_HEADERS
        and not own.startswith("sec-")
        and (own != "range" or not value.startswith("bytes="))
    }


def told_apart(kind: str, headers: Mapping[str, str]) -> str:
    r"""The headers by which a script may get different answers from one URL; "": there are none.

    Traces and tokens against forgery do not count: they differ each time.

    >>> told_apart("Fetch", {"Accept": "*/*", "HX-Request": "true"}), told_apart("Image", {"Accept": "image/png"})
    ('hx-request: true', '')
    >>> told_apart("XHR", {"traceparent": "00-4bf92f3577b34da6a3ce929d0e0e4736-01", "X-Page": "2"})
    'x-page: 2'
    """
    if kind not in _FETCHED:
        return ""
    own = sorted((name.lower(), value) for name, value in passed_on(headers).items())
    chosen = (f"{name}: {value}" for name, value in own if _USUAL.get(name) != value and not _CHANCE.search(name))
    return "\n".join(chosen)


def listed(request: dict[str, Any], login: Login | None = None) -> str:
    """The URL of a request in a page's list, as Browsertrix writes it: with what was sent, but without secrets.

    >>> part = {"bytes": "eyJxIjogMX0="}
    >>> listed({"url": "http://h/a", "method": "GET"}), listed(
    ...     {"url": "http://h/a", "method": "POST", "headers": {"content-type": "application/json"},
    ...      "hasPostData": True, "postDataEntries": [part]})
    ('http://h/a', 'http://h/a?__wb_method=POST&q=1')
    """
    if request["method"] == "GET":
        return str(request["url"])
    kind = field(request["headers"], "Content-Type") or ""
    raw = f"{request['method']} / HTTP/1.1\r\nContent-Type: {kind}\r\n\r\n".encode() + (body_of(request) or b"")
    text = sent(login.redacted(raw) if login else raw)
    return with_method(request["url"], text.method or "", text.posted)
