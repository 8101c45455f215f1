"""A site whose every page is broken in a way of its own: the capture is valid, and says of each what became of it."""

from __future__ import annotations

import asyncio
import threading
from contextlib import contextmanager
from urllib.parse import quote, unquote, urlsplit

from sharc_crawler.certificate.verify import verify
from tests.archive.readback import check
from tests.live.test_wire_to_warc import BROKEN
from tests.live.wire_servers import Conversation, Server

#: what became of the page: the report's result, and part of the error where there is one
EXPECTED = {
    "shorter than announced": ("failed", "cut short"),
    "longer than announced": ("ok", None),
    "bad chunk": ("failed", "cut short"),
    "reset in the headers": ("failed", "before an answer"),
    "reset in the body": ("failed", "cut short"),
    "gzip cut short": ("ok", None),
    "gzip bomb": ("ok", None),
    "brotli bomb": ("ok", None),
    "deflate bomb": ("ok", None),
    "zstd bomb": ("ok", None),
    "deflate that is not": ("ok", None),
    "endless body": ("failed", "larger than DOWNLOAD_MAXSIZE"),
    "header injection in Location": ("redirected", None),
    "control characters in headers": ("ok", None),
    "conflicting lengths": ("failed", "Content-Length"),
    "unknown transfer coding": ("failed", "unknown transfer coding br"),
    "no headers at all": ("failed", "before an answer"),
    "nothing": ("failed", "before an answer"),
    "silence": ("failed", "no answer in time"),
    "hang in the headers": ("failed", "no answer in time"),
    "hang in the body": ("failed", "no answer in time"),
    "a byte at a time": ("failed", "no answer in time"),
    "late, in two parts": ("ok", None),
    "no last chunk": ("failed", "cut short"),
    "large and chunked": ("failed", "larger than DOWNLOAD_MAXSIZE"),
    "chunk of an absurd size": ("failed", "cut short"),
    "chunk of a negative size": ("failed", "cut short"),
    "chunked, with a length as well": ("ok", None),
    "length that is no number": ("failed", "non-decimal digits"),
    "negative length": ("failed", "non-decimal digits"),
    "malformed status line": ("failed", "no valid HTTP"),
    "blank line before the status line": ("ok", None),
    "blank lines without end": ("failed", "no valid HTTP"),
    "Shoutcast's status line": ("failed", "no valid HTTP"),
    "status that is no number": ("failed", "no valid HTTP"),
    "status 999": ("failed", "status 999"),
    "header without a colon": ("ok", None),
    "empty content type": ("ok", None),
    "headers twice": ("ok", None),
    "endless headers": ("failed", "headers without end"),
    "endless interim responses": ("failed", "headers without end"),
    "204 with a body": ("ok", None),
    "304 that nobody asked for": ("not-modified", None),
    "redirect to itself": ("redirected", None),
    "redirect to nowhere": ("refused", "status 302"),
    "HTTP/2 unasked": ("failed", "before an answer"),
}


@contextmanager
def broken_site():
    """Each case at a path of its own, all linked from the first page; served by a thread until the block ends."""
    loop = asyncio.new_event_loop()
    faults: list[Exception] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            case = unquote(head.split()[1].decode()[1:])
            if case in BROKEN:
                await BROKEN[case][0](_Heard(Server(BROKEN[case][0]), reader, writer))
            else:
                links = "".join(f'<a href="/{quote(name)}">{name}</a>' for name in BROKEN)
                status = b"200 OK" if case == "" else b"404 Not Found"
                body = links.encode()
                writer.write(b"HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n" % (status, len(body)))
                writer.write(b"Connection: close\r\n\r\n" + body)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the crawl hangs up where it has heard enough
        except Exception as error:
            faults.append(error)
        finally:
            writer.close()

    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    server = asyncio.run_coroutine_threadsafe(asyncio.start_server(serve, "127.0.0.1", 0), loop).result()
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(20)
    assert not faults, "a case that was not served is not a case"


class _Heard(Conversation):
    """A conversation whose first request has been read already."""

    async def heard(self) -> bytes:
        return b"GET"


def test_every_broken_page_has_its_outcome_and_the_capture_is_valid(crawl):
    with broken_site() as url:
        limits = ("DOWNLOAD_MAXSIZE=500000", "DOWNLOAD_TIMEOUT=15", "SHARC_ATTEMPTS=1")
        at_once = "CONCURRENT_REQUESTS_PER_DOMAIN=8"
        done = crawl(url=url, delay="0", sitemap="off", strategy="bfs", settings=(*limits, at_once))
    assert done.code == 0, done.err
    shown = {
        unquote(urlsplit(page["url"]).path[1:]): page["visit"] for page in done.capture["pages"] if page["via"] == url
    }
    for case, (result, error) in EXPECTED.items():
        assert shown[case]["result"] == result, case
        assert (error in shown[case]["error"]) if error else not shown[case]["error"], case
        assert shown[case]["warc"], case
    assert EXPECTED.keys() == BROKEN.keys()
    for warc in done.warcs:
        check(warc)
    assert verify(done.folder).findings == []
