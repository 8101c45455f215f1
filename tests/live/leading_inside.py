"""A public site that leads inside in many ways, names whose addresses change, and who would hear of it.

Public is what lies at 127.0.4.0/24 here; all else is private, as it is by default.
"""

from __future__ import annotations

import socket
import threading
from collections import Counter
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING

from twisted.internet.defer import Deferred, succeed

from sharc_crawler.live.wire.names import DualStackResolver
from tests.live.serving import Answering, serving

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sharc_crawler.live.wire.names import Found

PUBLIC, INSIDE = "127.0.4.1", "127.0.0.9"
ALLOWED = "127.0.4.0/24"
#: what a look-up finds, one after the other; the last holds
NAMES: dict[str, list[list[str]]] = {
    "www.site.example": [[PUBLIC]],
    "rebinds.site.example": [[PUBLIC], [PUBLIC], [INSIDE]],
    "rebinds-at-once.site.example": [[PUBLIC], [INSIDE, "::1"]],
    "mixed.site.example": [[INSIDE, "::1", PUBLIC]],
    "mixed-later.site.example": [[PUBLIC, INSIDE]],
    "six.site.example": [["::1"]],
    "mapped.site.example": [[f"::ffff:{INSIDE}"]],
    "inside.site.example": [[INSIDE]],
    "nothing-first.site.example": [[], [INSIDE]],
}
#: the inner address, written in many ways; ``PORT`` stands for the port of whoever listens there
SPELLED = [
    f"http://{INSIDE}:PORT/",
    "http://127.9:PORT/",
    "http://0x7f.9:PORT/",
    "http://0177.0.0.011:PORT/",
    "http://2130706441:PORT/",
    "http://0x7f000009:PORT/",
    "http://127.0.0.9.:PORT/",
    "http://127。0。0。9:PORT/",
    "http://１２７.0.0.9:PORT/",
    "http://127.0.0.%39:PORT/",
    f"http://www.site.example@{INSIDE}:PORT/",
    f"http://www.site.example:80@{INSIDE}:PORT/",
    f"http://{INSIDE}:PORT\\@www.site.example/",
    f"http://{INSIDE}:PORT#@www.site.example/",
    f"http:\\\\{INSIDE}:PORT\\",
    f"http:/{INSIDE}:PORT/",
    f"http:///{INSIDE}:PORT/",
    f"//{INSIDE}:PORT/",
    f"\\\\{INSIDE}:PORT/",
    f" \thttp://{INSIDE}:\nPORT/",
    f"http://[::ffff:{INSIDE}]:PORT/",
    "http://[::ffff:7f00:9]:PORT/",
    f"http://[::{INSIDE}]:PORT/",
    "http://[::1]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[::1%25lo]:PORT/",
    "http://[2002:7f00:9::1]:PORT/",
    f"http://[64:ff9b::{INSIDE}]:PORT/",
    "http://[64:ff9b:1:7f00:0:900::]:PORT/",
    f"http://[2606:4700::5efe:{INSIDE}]:PORT/",
    f"http://[::ffff:0:{INSIDE}]:PORT/",
    "http://localhost:PORT/",
    "http://LOCALHOST.:PORT/",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://inside.site.example:PORT/",
    "http://INSIDE.site.example.:PORT/",
    "http://six.site.example:PORT/",
    "http://mapped.site.example:PORT/",
    "http://nothing-first.site.example:PORT/",
    f"https://{INSIDE}:PORT/",
    f"ftp://{INSIDE}:PORT/",
    f"gopher://{INSIDE}:PORT/",
    "file:///etc/passwd",
    f"javascript:location='http://{INSIDE}:PORT/'",
    f"data:text/html,<img src='http://{INSIDE}:PORT/'>",
    f"view-source:http://{INSIDE}:PORT/",
    f"ws://{INSIDE}:PORT/",
]
CODES = (301, 302, 303, 307, 308)


class Resolver(DualStackResolver):
    """Finds what :data:`NAMES` has; nothing is kept."""

    def __init__(self, *given: object) -> None:
        super().__init__(*given)
        self._times: Counter[str] = Counter()

    def look_up(self, name: str) -> Deferred[Found]:
        name = name.lower().rstrip(".")
        if (answers := NAMES.get(name)) is None:
            return super().look_up(name)
        self._times[name] += 1
        return succeed(tuple(answers[min(self._times[name], len(answers)) - 1]))


@contextmanager
def listening(heard: list[str]) -> Iterator[int]:
    """Whoever connects inside is noted; the port, which is the same at each inner address."""
    sockets: list[socket.socket] = []
    port = 0
    for family, host in ((socket.AF_INET, INSIDE), (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
        try:
            sockets.append(socket.create_server((host, port), family=family))
        except OSError:  # no IPv6 here, or the port is taken there
            continue
        port = sockets[0].getsockname()[1]

    def hear(server: socket.socket) -> None:
        while True:
            try:
                peer, _ = server.accept()
            except OSError:
                return
            heard.append(str(server.getsockname()))
            peer.close()

    threads = [threading.Thread(target=hear, args=(one,), daemon=True) for one in sockets]
    for thread in threads:
        thread.start()
    try:
        yield port
    finally:
        for one in sockets:
            one.shutdown(socket.SHUT_RDWR)
            one.close()


@contextmanager
def public_site(inner: int, proxied: list[str]) -> Iterator[int]:
    """All hosts of the site, at one address; the port. What it is asked for as a proxy is noted."""
    ways = [one.replace("PORT", str(inner)) for one in SPELLED]

    class Site(Answering, BaseHTTPRequestHandler):
        server: ThreadingHTTPServer

        def do_GET(self) -> None:
            self.close_connection = True  # each request is a look-up
            if self.path.startswith("http:"):
                proxied.append(self.path)
                self.path = "/" + self.path.split("/", 3)[3]
            here = f"http://{(self.headers['Host'] or '').partition(':')[0]}:{self.server.server_port}"
            name, number, *more = [*self.path[1:].split("/"), ""]
            if len(more) > 2 or (name.isdecimal() and number):
                return self.answer(b"", status=404)  # what relative redirects lead to
            if name in ("to", "moved.xml"):
                way = ways[int(number or 0)].replace("\n", "").encode().decode("latin-1")  # what lies beyond is UTF-8
                return self.answer(b"", status=CODES[int(number or 0) % len(CODES)], Location=way)
            if name == "headers":
                named = {
                    "Refresh": f"0;url={ways[0]}",
                    "Link": f"<{ways[0]}>; rel=preload",
                    "Content_Location": ways[0],
                }
                return self.answer(b"x", Alt_Svc=f'h2="{INSIDE}:{inner}"', **named)
            kind, text = document(name, here, ways)
            return self.answer(text.encode(), kind)

    with serving(Site, PUBLIC) as url:
        yield int(url.rsplit(":", 1)[1].strip("/"))


def document(name: str, here: str, ways: list[str]) -> tuple[str, str]:
    """Its type, and its text, which names each way."""
    if name == "robots.txt" and "//www." in here:
        named = [*ways, f"{here}/own.xml", f"{here}/moved.xml"]
        return "text/plain", "".join(f"Sitemap: {way}\n" for way in named)
    if name == "own.xml":
        named = [f"<sitemap><loc>{way}</loc></sitemap>" for way in ways]
        return "text/xml", f"<sitemapindex>{''.join(named)}</sitemapindex>"
    if name == "feed":
        named = [f"<item><link>{way}</link></item>" for way in ways]
        return "application/rss+xml", f"<rss><channel>{''.join(named)}</channel></rss>"
    if name == "style.css":
        return "text/css", "".join(f"@import '{way}';a{{b:url({way})}}" for way in ways)
    return "text/html", page(here, ways) if here.startswith("http://www.") and not name else f"page {name} of {here}"


def page(here: str, ways: list[str]) -> str:
    """Each way as what pages may name."""
    named = []
    for number, way in enumerate(ways):
        named.append(f'<a href="{way}">x</a><img src="{way}i" srcset="{way}s 1x"><iframe src="{way}f"></iframe>')
        named.append(f'<link rel=stylesheet href="{way}c"><script src="{way}j"></script><a href="/to/{number}">x</a>')
        named.append(f'<img src="/to/{number}/i"><link rel=alternate type="application/rss+xml" href="{way}r">')
    other = [name for name in NAMES if name.startswith(("rebinds", "mixed"))]
    port = here.rsplit(":", 1)[1]
    named += [f'<a href="http://{name}:{port}/{n}">x</a>' for name in other for n in range(4)]
    named.append(f'<meta http-equiv=refresh content="0;url={ways[0]}"><link rel=stylesheet href=/style.css>')
    return f"{''.join(named)}<a href=/headers>h</a><link rel=alternate type=application/rss+xml href=/feed>"
