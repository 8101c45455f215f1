"""A project's requests as text, so that a crawl can be continued; nothing is kept that would come back changed.

A spider may have two methods of its own: ``keep_request(request)`` returns what JSON can hold (``None``: the usual
way), and ``restore_request(kept)`` makes a request of that.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import Enum
from http.cookiejar import Cookie
from typing import TYPE_CHECKING, Any

from scrapy.utils.request import request_from_dict

from sharc_crawler.errors import SharcError
from sharc_crawler.live.requests import META_KEY

if TYPE_CHECKING:
    from scrapy import Request, Spider
    from scrapy.http.cookies import CookieJar

KEPT, HOP = "request ", "hop "  #: the names of what is kept of requests, and of redirects, begin so
OURS = (META_KEY, "sharc_sent", "sharc_exchange")  #: in ``meta``: valid in one run only


class UnkeepableError(SharcError):
    """A request holds something that would not come back as it is."""


def kept(request: Request, spider: Spider) -> str:
    """A request as JSON; raises :class:`UnkeepableError`."""
    own = getattr(spider, "keep_request", None)
    if own is not None and (text := own(request)) is not None:
        return json.dumps({"own": plain(text, "keep_request()")})
    try:
        values = request.to_dict(spider=spider)
    except ValueError as error:
        raise UnkeepableError(f"its callback or errback is no method of the spider: {error}") from error
    values["meta"] = {name: value for name, value in request.meta.items() if name not in OURS}
    values["headers"] = {name.decode("latin-1"): list(value) for name, value in request.headers.items()}
    return json.dumps({name: plain(value, name) for name, value in values.items()})


def restored(text: str, spider: Spider) -> Request:
    """The request again."""
    values = json.loads(text)
    if "own" in values:
        return spider.restore_request(_again(values["own"]))  # type: ignore[attr-defined, no-any-return]
    return request_from_dict({name: _again(value) for name, value in values.items()}, spider=spider)


def lacking_method(texts: Mapping[str, str], spider: Spider) -> str:
    """A callback or errback that the kept requests need and the spider lacks, in words; "": none."""
    for key, text in texts.items():
        if not key.startswith((KEPT, HOP)):
            continue
        values = json.loads(json.loads(text)["request"] if key.startswith(KEPT) else text)
        for role in ("callback", "errback"):
            name = values.get(role)
            if name and not hasattr(spider, name):
                return f"the spider {spider.name!r} has no method {name!r} any more, the {role} of {values['url']}"
    return ""


def plain(value: Any, where: str) -> Any:
    """A value as JSON has it; bytes and tuples are marked. Raises :class:`UnkeepableError` that names the place.

    >>> plain({"page": 1, "at": (2, b"x")}, "meta")
    {'page': 1, 'at': {'!tuple': [2, {'!bytes': 'x'}]}}
    >>> plain({"parser": object}, "meta")
    Traceback (most recent call last):
    sharc_crawler.live.project.request_texts.UnkeepableError: meta['parser'] is a type
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str | int | float) and not isinstance(value, Enum):
        return next(kind(value) for kind in (str, int, float) if isinstance(value, kind))  # lxml has subclasses of str
    if isinstance(value, bytes):
        return {"!bytes": value.decode("latin-1")}
    if type(value) in (list, tuple):
        items = [plain(item, f"{where}[{place}]") for place, item in enumerate(value)]
        return items if isinstance(value, list) else {"!tuple": items}
    if isinstance(value, dict) and all(isinstance(name, str) and not name.startswith("!") for name in value):
        return {name: plain(item, f"{where}[{name!r}]") for name, item in value.items()}
    what = "a dict with keys that are no texts" if isinstance(value, dict) else f"a {type(value).__name__}"
    raise UnkeepableError(f"{where} is {what}")


def _again(value: Any) -> Any:
    if isinstance(value, list):
        return [_again(item) for item in value]
    if isinstance(value, dict):
        if "!bytes" in value:
            return value["!bytes"].encode("latin-1")
        if "!tuple" in value:
            return tuple(_again(item) for item in value["!tuple"])
        return {name: _again(item) for name, item in value.items()}
    return value


def cookies_text(jars: Mapping[Any, CookieJar]) -> str:
    """All cookies of a crawl as JSON, by the name of their jar."""
    held = [[name, [_cookie(cookie) for cookie in jar.jar]] for name, jar in jars.items()]
    return json.dumps([[name, cookies] for name, cookies in held if cookies])


def _cookie(cookie: Cookie) -> dict[str, Any]:
    return {name.removeprefix("_"): value for name, value in vars(cookie).items()}


def set_cookies(text: str, jars: Mapping[Any, CookieJar]) -> None:
    """Put cookies back into their jars."""
    for name, cookies in json.loads(text):
        for values in cookies:
            jars[name].jar.set_cookie(Cookie(**values))
