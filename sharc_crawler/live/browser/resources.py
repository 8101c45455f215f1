"""What is archived of a page as it was shown, beside its exchanges, by the conventions of Browsertrix."""

from __future__ import annotations

import json
import uuid
from typing import TYPE_CHECKING, Any

from sharc_crawler.archive.options import Resource
from sharc_crawler.instants import iso

if TYPE_CHECKING:
    from sharc_crawler.live.browser.seen import Loaded, Rendering
    from sharc_crawler.model import Instant

#: ``urn:KIND:URL`` of a page: its first screen, its text, what it loaded
VIEW, TEXT, PAGE_INFO = "view", "text", "pageinfo"


def resources_of(url: str, date: Instant, seen: Rendering, *, text: bool) -> list[Resource]:
    """The records about a page that was downloaded at ``date``; a picture is among them where one was taken.

    >>> from sharc_crawler.live.browser.seen import Rendering
    >>> [one.uri for one in resources_of("http://h/", 0.0, Rendering(text="Hello"), text=True)]
    ['urn:pageinfo:http://h/', 'urn:text:http://h/']
    """
    found = [(PAGE_INFO, "application/json", json.dumps(page_info(url, date, seen), indent=2).encode())]
    if text:
        found.append((TEXT, "text/plain", seen.text.encode(errors="replace")))
    if seen.picture is not None:
        found.append((VIEW, "image/png", seen.picture))
    return [Resource(f"urn:{kind}:{url}", date, media_type, block) for kind, media_type, block in found]


def page_info(url: str, date: Instant, seen: Rendering) -> dict[str, Any]:
    """What a page loaded, and what it was shown without."""
    stamp = iso(date)
    return {
        "pageid": str(uuid.uuid5(uuid.NAMESPACE_URL, f"{stamp} {url}")),
        "url": url,
        "ts": stamp,
        "urls": {url: _described(loaded) for url, loaded in seen.loaded.items()},
        "counts": {"jsErrors": seen.script_errors},
        **({"cut": seen.cut} if seen.cut else {}),
    }


def _described(loaded: Loaded) -> dict[str, Any]:
    known = {"status": loaded.status, "mime": loaded.media_type, "type": loaded.kind, "error": loaded.error}
    return {name: value for name, value in known.items() if value or name == "status"}
