"""What sites send, for ``fuzz_targets.py``: bytes in, an invariant that must hold."""

from __future__ import annotations

import gzip
import math
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sharc_crawler.addresses.urls import canonical, host_of
from sharc_crawler.archive.histories import cdx
from sharc_crawler.archive.surt import surt
from sharc_crawler.bodies.coding import decoded, unpack
from sharc_crawler.changes.chunks import dechunk
from sharc_crawler.changes.content import ContentDetector
from sharc_crawler.changes.difference import difference
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.http import http_date, parse_response
from sharc_crawler.changes.learning import Pair, learn
from sharc_crawler.links import document, sitemap
from sharc_crawler.links.dates import mail_date, w3c_date
from sharc_crawler.links.found import LIMIT, Resolver
from sharc_crawler.links.robots_rules import RobotsRules
from sharc_crawler.links.robots_text import robots_text
from sharc_crawler.live.reading.document import read
from sharc_crawler.live.reading.readings import Order, Wants
from sharc_crawler.live.retry_after import retry_after
from sharc_crawler.live.wire.listening import RequestContext, TappedPool
from sharc_crawler.live.wire.tap import Tap

if TYPE_CHECKING:
    from collections.abc import Callable

    from twisted.internet.defer import Deferred


ROOT = Path(__file__).resolve().parents[1]
BASE = "http://example.org/a/b?c"


def web(url: str) -> bool:
    return url.startswith(("http://", "https://")) and "#" not in url


def run_sitemaps(data: bytes) -> None:
    found = sitemap.read(data, BASE, most_entries=100, most_bytes=100_000)
    assert len(found.entries) <= 100
    assert len({entry.loc for entry in found.entries}) == len(found.entries)
    for entry in found.entries:
        assert web(entry.loc.lower()), entry.loc
        assert entry.hints.priority is None or 0 <= entry.hints.priority <= 1
        assert entry.hints.lastmod is None or math.isfinite(entry.hints.lastmod)
    unpack(data, 1_000)


def sitemap_seeds() -> list[bytes]:
    return [path.read_bytes() for path in (ROOT / "sitemaps").iterdir() if ".expected." not in path.name]


def run_feeds(data: bytes) -> None:
    run_sitemaps(b"<rss version='2.0'><channel>" + data)
    run_sitemaps(b"<feed xmlns='http://www.w3.org/2005/Atom'>" + data)


def feed_seeds() -> list[bytes]:
    return [
        b"<item><link>http://example.org/x</link><pubDate>Thu, 01 Jan 2026 00:01:00 GMT</pubDate></item>",
        b"<entry><link href='/y' rel='alternate'/><updated>2026-01-01T00:00:00Z</updated></entry></feed>",
        b"<item><guid isPermaLink='true'>http://example.org/x</guid><dc:date>2026-01</dc:date></item>",
    ]


def run_robots(data: bytes) -> None:
    text, problem = robots_text(data)
    assert problem is None
    rules = RobotsRules(text, "sharc-crawler", "http://example.org/robots.txt")
    assert rules.delay >= 0 and math.isfinite(rules.delay), rules.delay
    assert all(web(url.lower()) for url in rules.sitemaps)
    for url in ("http://example.org/", "http://example.org/a/b?c=%41", "http://example.org/é"):
        rules.allows(url)


def robots_seeds() -> list[bytes]:
    return [
        b"User-agent: *\nDisallow: /private/\nAllow: /private/x$\nCrawl-delay: 2\nSitemap: /s.xml",
        b"\xef\xbb\xbfUser-agent: sharc-crawler\nRequest-rate: 1/10s 0900-1700\nDisallow: /*?c=*%41",
        b"User-agent: a\nUser-agent: b # and\nDisallow\nCrawl-delay: 1e999\n\nUser-agent: *\nDisallow:",
    ]


def run_dates(data: bytes) -> None:
    text = data.decode("latin-1")
    for instant in (http_date(text), *(found and found.start for found in (w3c_date(text), mail_date(text)))):
        assert instant is None or math.isfinite(instant)
    pause = retry_after(text, 1e9)
    assert pause is None or pause >= 0
    one = _result(cdx.instant, data)
    many = _result(cdx.instants, [data])
    assert one == (many if many is None else many[0]), (one, many)


def _result(function: Callable, argument: object) -> object:
    try:
        return function(argument)
    except ValueError:
        return None


def date_seeds() -> list[bytes]:
    return [
        b"Sun, 06 Nov 1994 08:49:37 GMT", b"Sunday, 06-Nov-94 08:49:37 GMT", b"Sun Nov  6 08:49:37 1994",
        b"120", b"2026-11-18T11:06:40.25+01:00", b"2026-11", b"20010410213930", b"1 Jan 0001 00:00:00 +2359",
    ]  # fmt: skip


def run_urls(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape" if data[:1] == b"s" else "replace")
    for url in (text, f"http://example.org/{text}", f"http://{text}/"):
        name = canonical(url)
        if name is not None:
            assert canonical(name) == name, (name, canonical(name))
            assert name.isprintable() and name.isascii() and " " not in name, name
            assert host_of(name)
            assert _result(surt, name), name
    absolute = Resolver(BASE).one(text)
    if absolute is not None:
        assert web(absolute.lower()), absolute
        assert absolute.isascii() and absolute.isprintable(), absolute
    _result(surt, text)


def url_seeds() -> list[bytes]:
    return [
        b"HTTP://WWW.Example.org:80/a/../b%7e?z=1&utm_source=x&a=2#top", b"http://[::1]:8080/;jsessionid=1?a&b=",
        "http://bücher.example/%E9/ä?ö=ü".encode(), b"//x/y\\..\\z", b"../(S(aaaaaaaaaaaaaaaaaaaaaaaa))/../c", b"http://h./%2e%2E/",
    ]  # fmt: skip


def run_exchange(data: bytes) -> None:
    message = parse_response(data)
    read(data, Order(BASE, Wants.DOCUMENT, compared=True), ContentDetector())
    if message is None:
        return
    assert message.interim + message.message == data
    assert message.head == data[message.start : message.body_start]
    assert 200 <= message.status <= 999 or message.status < 100
    payload = bytes(message.payload)
    assert len(payload) <= len(data) - message.body_start
    if not message.chunked:
        assert message.head + payload == message.message
    whole = b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in (data[:7], data[7:]) if part) + b"0\r\n\r\n"
    assert dechunk(whole) == data


def exchange_seeds() -> list[bytes]:
    ok = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n"
    chunked = b"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\nde\r\n0\r\nT: u\r\n\r\n"
    return [
        ok + b"Content-Length: 5\r\n\r\nhello",
        b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + ok + chunked,
        ok + b"Content-Encoding: gzip\r\n\r\n" + gzip.compress(b"<p>hello", mtime=0),
        b"HTTP/1.0 301\nLocation: /x\n y\n\n",
        b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n',
    ]


def run_wire(data: bytes) -> None:
    """A connection that brings these bytes, in pieces: nothing raised, nothing lost, nothing added."""
    from twisted.internet.error import ConnectionDone
    from twisted.internet.testing import MemoryReactorClock, StringTransport
    from twisted.python.failure import Failure
    from twisted.web.client import Agent, HTTPConnectionPool

    transport, wired = StringTransport(), _Endpoint()
    transport.abortConnection = transport.loseConnection
    transport.getHandle = lambda: None
    tap = Tap(lambda: 0.0)
    reactor = MemoryReactorClock()
    pool = TappedPool(HTTPConnectionPool(reactor), 9, lambda: RequestContext(tap, lambda *_: wired, whole=True))
    answer = Agent(reactor, pool=pool).request(b"GET", b"http://h/")
    wired.connection.makeConnection(transport)
    wired.made.callback(wired.connection)
    bodies: list[bytes] = []
    answer.addCallbacks(lambda response: response.deliverBody(_Body(bodies)), lambda _: None)
    size, rest = (data[0] or 1, data[1:]) if data else (1, b"")
    fed = b""
    for start in range(0, len(rest), size):
        if transport.disconnecting or not wired.connection.listening:
            break
        wired.connection.dataReceived(rest[start : start + size])
        fed += rest[start : start + size]
    heard = tap.response() + tap.surplus
    assert fed == heard, (heard, fed)
    wired.connection.connectionLost(Failure(ConnectionDone()))


class _Endpoint:
    """One connection, made by hand."""

    def connect(self, factory: Any) -> Deferred[Any]:
        from twisted.internet.defer import Deferred

        self.connection = factory.buildProtocol(None)
        self.made: Deferred[Any] = Deferred()
        return self.made


class _Body:
    def __init__(self, parts: list[bytes]) -> None:
        self.dataReceived = parts.append

    def makeConnection(self, transport: object) -> None: ...  # noqa: N802 - Twisted's name

    def connectionLost(self, reason: object) -> None: ...  # noqa: N802 - Twisted's name


def wire_seeds() -> list[bytes]:
    return [size + seed for seed in exchange_seeds() for size in (b"\x01", b"\xff")]


_TYPES = ("text/html", "text/html; charset=latin-1", "text/css", "image/svg+xml", "application/xhtml+xml", None)


def run_links(data: bytes) -> None:
    kind = _TYPES[data[0] % len(_TYPES)] if data else None
    found = document.extract(data[1:], BASE, kind)
    for urls in (found.links, found.resources, found.feeds):
        assert len(urls) == len(set(urls)) <= LIMIT
        assert all(web(url.lower()) and url.isascii() and url.isprintable() for url in urls), urls


def link_seeds() -> list[bytes]:
    page = (
        b'<base href="/b/"><a href="c#d">x</a><img srcset="e.png, f.png 2x" style="background:url(g)">'
        b'<link rel=stylesheet href=h.css><meta http-equiv=refresh content="0;url=i"><style>@import "j";</style>'
        b"<body background=k></html><a href=l>"
    )
    sheet = b'@charset "utf-8";@import url("a.css");b{background:url( c\\29.png )}/* url(d) */@font-face{src:url(f)}'
    return [bytes([number]) + text for number in range(len(_TYPES)) for text in (page, sheet)]


def run_fingerprint(data: bytes) -> None:
    old, _, new = data.partition(b"\0")
    one = fingerprint(old, "text/html")
    assert one == fingerprint(old, "text/html")
    masks = learn([Pair(old, new, "text/html")]).masks
    for body in (old, new):
        fingerprint(body, "text/html", masks)
    difference(old, new, "text/html", masks)
    assert not difference(old, old, "text/html").edits, old


def fingerprint_seeds() -> list[bytes]:
    page = b"<title>t</title><p>Page 1234 of 12:30:01<a href='/x?sid=1#f'>y</a><img src='a?v=2'><input value=z></p>"
    return [page + b"\0" + page.replace(b"1234", b"5678").replace(b"v=2", b"v=3"), page + b"</html><p>more\0<p>x"]


_CODINGS = ([b"gzip"], [b"deflate"], [b"br"], [b"zstd"], [b"gzip, br"], [b"x-gzip", b"identity"])


def run_coding(data: bytes) -> None:
    codings = _CODINGS[data[0] % len(_CODINGS)] if data else [b"gzip"]
    body = decoded(data[1:], codings, limit=50_000)
    assert body is None or len(body) <= 50_000


def coding_seeds() -> list[bytes]:
    import brotli

    bomb = gzip.compress(bytes(100_000), mtime=0)
    return [
        b"\0" + gzip.compress(b"hello", mtime=0) * 2, b"\0" + bomb, b"\1" + zlib.compress(b"hello"),
        b"\1" + zlib.compress(b"hello")[2:-4], b"\2" + brotli.compress(b"hello"), b"\4" + brotli.compress(bomb),
        b"\3(\xb5/\xfd\x04X)\x00\x00hello\x8b\x1f\x02\x06",
    ]  # fmt: skip


def run_long(data: bytes) -> None:
    """A megabyte that repeats its second half: what costs more than its length shows here."""
    start, unit = data[: len(data) // 2], data[len(data) // 2 :] or b"<"
    page = (start + unit * (1_000_000 // len(unit)))[:1_000_000]
    for kind in ("text/html", "text/css"):
        document.extract(page, BASE, kind)
    fingerprint(page, "text/html")
    sitemap.read(page, BASE)
    RobotsRules(robots_text(page)[0], "sharc-crawler", BASE)


def long_seeds() -> list[bytes]:
    return [
        *link_seeds(),
        b"<p " * 9 + b" a=1",
        b"<!--" + b"-->",
        b"<url><loc>" + b"http://h/",
        b"User-agent: *\n" + b"Disallow: /*a\n",
    ]
