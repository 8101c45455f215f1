"""Turn a request's body into a query, so that replay tools find the answer to a POST.

The rules are those of pywb and ReplayWeb.page, which make the same query from a request during replay.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, unquote_plus, urlencode

_LONGEST = 4096  #: most characters of a query
_GET = b"GET "
_TYPE = re.compile(rb"(?im)^content-type:[ \t]*([^\r\n]*)")
_CONTROL = re.compile(r"[\x00-\x20\x7f]")


class Posted(NamedTuple):
    """A request's method and its body as a query; both None for a GET."""

    method: str | None = None
    posted: str | None = None


def sent(request: bytes) -> Posted:
    r"""Method and body of a request, from its bytes on the wire.

    >>> sent(b'POST /a HTTP/1.1\r\nContent-Type: application/json\r\n\r\n{"q": [1, true]}')
    Posted(method='POST', posted='q=1&q.2_=true')
    >>> sent(b"GET / HTTP/1.1\r\n\r\n")
    Posted(method=None, posted=None)
    """
    if request.startswith(_GET):
        return Posted()
    head, _, body = request.partition(b"\r\n\r\n")
    method = head.partition(b" ")[0].decode("latin-1")
    if method not in {"POST", "PUT"} or not body:
        return Posted(method or None)
    found = _TYPE.search(head)
    query = _query(found[1].decode("latin-1") if found else "", body)
    return Posted(method, _CONTROL.sub(lambda one: quote(one[0]), query[:_LONGEST]))


def with_method(url: str, method: str, posted: str | None) -> str:
    """The URL under which an answer is looked up.

    >>> with_method("http://h/a", "POST", "q=1")
    'http://h/a?__wb_method=POST&q=1'
    """
    return f"{url}{'&' if '?' in url else '?'}__wb_method={method}{f'&{posted}' if posted else ''}"


def _query(media_type: str, body: bytes) -> str:
    kind = media_type.partition(";")[0].strip().lower()
    if kind == "application/x-www-form-urlencoded":
        try:
            return unquote_plus(body.decode())
        except UnicodeDecodeError:
            return _binary(body)
    if kind.startswith("multipart/"):
        return _of_parts(media_type, body)
    if kind in {"application/json", "text/plain"}:
        try:
            return urlencode(_flat(json.loads(body)))
        except (ValueError, RecursionError):
            return "" if kind == "application/json" else _binary(body)
    return _binary(body)


def _binary(body: bytes) -> str:
    return f"__wb_post_data={b64encode(body).decode()}"


def _of_parts(media_type: str, body: bytes) -> str:
    """The fields of a multipart form."""
    from email import message_from_bytes  # rarely needed

    form = message_from_bytes(b"Content-Type: %b\r\n\r\n%b" % (media_type.encode("latin-1"), body))
    if not form.is_multipart():
        return _binary(body)
    fields = [
        (part.get_param("name", header="content-disposition"), part.get_payload(decode=True))
        for part in form.get_payload()
        if not isinstance(part, str)
    ]
    return urlencode([(str(name), bytes(value or b"")) for name, value in fields])


def _flat(known: Any) -> dict[str, str]:
    """Names and values in JSON of any depth; repeated names are numbered."""
    flat: dict[str, str] = {}
    times: dict[str, int] = {}
    for name, value in _leaves(known, ""):
        key = name
        if name in flat:
            times[name] = times.get(name, 1) + 1
            key = f"{name}.{times[name]}_"
        flat[key] = value
    return flat


def _leaves(known: Any, name: str) -> Iterator[tuple[str, str]]:
    if isinstance(known, dict):
        for own, value in known.items():
            yield from _leaves(value, own)
    elif isinstance(known, list):
        for value in known:
            yield from _leaves(value, name)
    elif name:
        whole = isinstance(known, float) and known.is_integer()
        yield name, known if isinstance(known, str) else str(int(known)) if whole else _plain(known)


def _plain(value: float | None) -> str:
    """A value as JavaScript writes it."""
    return json.dumps(value) if value is None or isinstance(value, bool) else str(value)
