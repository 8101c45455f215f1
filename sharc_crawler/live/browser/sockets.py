"""A page's WebSocket: the crawl makes its opening request, archives the answer, and ends it there (RFC 6455, 4.1).

The browser has no network, so the page's own opening goes nowhere.
"""

from __future__ import annotations

import re
import secrets
from base64 import b64encode
from urllib.parse import urlsplit

from sharc_crawler.live.browser.page_records import Asked

KIND = "WebSocket"  #: DevTools' name
MARK = "websocket"  #: distinguishes its opening from other requests for the URL
BINDING = "sharcSockets"  #: by which our script reports; removed before the page's scripts run
#: reports the sub-protocols of a socket before it opens, which DevTools does not
TELL = f"""(tell => {{
  if (!tell) return;
  delete globalThis.{BINDING};
  const construct = (own, given, made) => (tell(String(given[1] ?? '')), Reflect.construct(own, given, made));
  globalThis.WebSocket = WebSocket.prototype.constructor = new Proxy(WebSocket, {{construct}});
}})(globalThis.{BINDING})"""
_NAMES = re.compile(r"[!#$%&'*+.^_`|~\w-]+(,[!#$%&'*+.^_`|~\w-]+)*", re.ASCII)
CUT = "WebSockets: they are opened, and what comes by them is no answer to a request"


def opening(url: str, page: str, names: str = "") -> Asked:
    """The opening request of a page's socket; ``names``: its sub-protocols, as the script gave them.

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
