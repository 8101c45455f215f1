"""A page's WebSocket: the crawl opens it as any request, archives what was said, and ends it there (RFC 6455, 4.1).

The browser has no network, so that a page's own opening leads nowhere, and to no private address.
"""

from __future__ import annotations

import re
import secrets
from base64 import b64encode
from urllib.parse import urlsplit

from sharc_crawler.live.browser.seen import Asked

KIND = "WebSocket"  #: DevTools' name
MARK = "websocket"  #: tells its opening from other requests for the same URL
BINDING = "sharcSockets"  #: what a script of ours tells by, and takes away before any of the page's runs
#: tells the names of sub-protocols that a socket is opened with, which the protocol does not; then it is opened
TELL = f"""(tell => {{
  if (!tell) return;
  delete globalThis.{BINDING};
  const construct = (own, given, made) => (tell(String(given[1] ?? '')), Reflect.construct(own, given, made));
  globalThis.WebSocket = WebSocket.prototype.constructor = new Proxy(WebSocket, {{construct}});
}})(globalThis.{BINDING})"""
_NAMES = re.compile(r"[!#$%&'*+.^_`|~\w-]+(,[!#$%&'*+.^_`|~\w-]+)*", re.ASCII)
CUT = "WebSockets: they are opened, and what comes by them is no answer to a request"


def opening(url: str, page: str, names: str = "") -> Asked:
    """What opens a socket of a page; ``names``: of sub-protocols, as a script gave them.

    >>> asked = opening("wss://h.example/live", "https://h.example/a", "chat,v2")
    >>> asked.url, asked.headers["Origin"], len(asked.headers["Sec-WebSocket-Key"])
    ('https://h.example/live', 'https://h.example', 24)
    >>> asked.headers["Sec-WebSocket-Protocol"]
    'chat, v2'
    """
    origin = urlsplit(page)
    headers = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Origin": f"{origin.scheme}://{origin.netloc}",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": b64encode(secrets.token_bytes(16)).decode(),
    }
    if _NAMES.fullmatch(names):
        headers["Sec-WebSocket-Protocol"] = names.replace(",", ", ")
    return Asked(f"http{url.removeprefix('ws')}", headers, KIND)
