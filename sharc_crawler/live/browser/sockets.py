"""A page's WebSocket: the crawl opens it as any request, archives what was said, and ends it there (RFC 6455, 4.1).

The browser has no network, so that a page's own opening leads nowhere, and to no private address.
"""

from __future__ import annotations

import secrets
from base64 import b64encode
from urllib.parse import urlsplit

from sharc_crawler.live.browser.seen import Asked

KIND = "WebSocket"  #: DevTools' name
MARK = "websocket"  #: tells its opening from other requests for the same URL
CUT = "WebSockets: they are opened, and what comes by them is no answer to a request"


def opening(url: str, page: str) -> Asked:
    """What opens a socket of a page.

    >>> asked = opening("wss://h.example/live", "https://h.example/a")
    >>> asked.url, asked.headers["Origin"], len(asked.headers["Sec-WebSocket-Key"])
    ('https://h.example/live', 'https://h.example', 24)
    """
    origin = urlsplit(page)
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Origin": f"{origin.scheme}://{origin.netloc}",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": b64encode(secrets.token_bytes(16)).decode(),
    }
    return Asked(f"http{url.removeprefix('ws')}", headers, KIND)
