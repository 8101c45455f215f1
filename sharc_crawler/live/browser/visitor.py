"""What a browser is given of a session."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sharc_crawler.login import Cookie


def as_set(cookie: Cookie) -> dict[str, Any]:
    """A cookie as the protocol sets it; without a domain it is its host's alone."""
    where = {"domain": f".{cookie.domain}"} if cookie.subdomains else {}
    return {
        "name": cookie.name,
        "value": cookie.value,
        "url": f"http{'s' * cookie.secure}://{cookie.domain}{cookie.path}",
        "path": cookie.path,
        "secure": cookie.secure,
        "httpOnly": cookie.http_only,
        **({"expires": cookie.expires} if cookie.expires else {}),
        **where,
    }


def stored(storage: Mapping[str, Mapping[str, str]]) -> str:
    """A script that finds what scripts had stored at its origin, before any of the page's runs."""
    known = json.dumps({origin: dict(items) for origin, items in storage.items()})
    return f"for (const item of Object.entries({known}[origin] || {{}})) localStorage.setItem(...item)"
