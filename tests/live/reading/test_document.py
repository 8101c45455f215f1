"""A page is parsed once, and what is read of its one tree is what separate readings bring."""

from __future__ import annotations

import json
from zlib import crc32

import pytest

from sharc_crawler.addresses.unlikely import sayings_in, without_sayings
from sharc_crawler.bodies import markup
from sharc_crawler.changes.base import GuardedDetector
from sharc_crawler.changes.content import ContentDetector
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.links import document
from sharc_crawler.live.reading import reader_process
from sharc_crawler.live.reading.document import read
from sharc_crawler.live.reading.readings import Order, Wants, unpacked_reading

URL = "http://h.example/a"
PAGE = Order(URL, Wants.DOCUMENT, compared=True, words=True)
TEXT = b"enough text on this page to tell it from others"
BODIES = [
    b"<title>t</title><p>%b</p><script>var a</script><a href=/b>b</a><img src=c.png alt=d>" % TEXT,
    b"<html><body><template>x</template><noscript>y</noscript>%b</body></html><a href=/late>z</a>" % TEXT,
    b"<div class=ad-slot>ad</div><p>%b. Generated in 0.02 s<input type=hidden value=t><style>p{}</style>" % TEXT,
    b"<p %b>%b" % (b" ".join(b"a%d=1" % number for number in range(1_000)), TEXT),
    b"<p>caf\xe9 %b" % TEXT,
    b"<div>" * 3_000 + TEXT,
    b"",
    b"no markup",
]


@pytest.mark.parametrize(
    "headers",
    [
        b"Content-Type: text/html, text/html\r\n",
        b"Content-Type: text/plain\r\nContent-Type: text/html\r\n",
        b"Content-Type: text/html\r\nContent-Encoding: utf-8\r\n",
        b'Content-Type: text/html; x="a,b/c"\r\n',
    ],
)
def test_headers_are_read_as_browsers_read_them(headers: bytes) -> None:
    reading = read(b"HTTP/1.1 200 OK\r\n%b\r\n<a href=/b>b</a>" % headers, PAGE, ContentDetector())
    assert [link.url for link in reading.links] == ["http://h.example/b"]


@pytest.mark.parametrize("kind", ["text/html", "text/html; charset=latin-1", "image/svg+xml", "text/css", ""])
@pytest.mark.parametrize("body", BODIES)
def test_one_tree_tells_what_separate_readings_tell(kind: str, body: bytes) -> None:
    header = b"Content-Type: %b\r\n" % kind.encode() if kind else b""
    reading = read(b"HTTP/1.1 200 OK\r\n%b\r\n%b" % (header, body), PAGE, ContentDetector())
    found = document.extract(body, URL, kind or None)
    assert reading.payload.fingerprint == fingerprint(body, kind)
    assert {link.url for link in reading.links} == {*found.links, *found.resources}
    assert reading.problems == tuple(f"without {what}" for what in found.unread)


def test_a_page_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    parsed = []
    whole = markup.etree.fromstring
    monkeypatch.setattr(markup.etree, "fromstring", lambda data, parser: parsed.append(data) or whole(data, parser))
    reading = read(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + BODIES[0], PAGE, ContentDetector())
    assert len(parsed) == 1
    assert reading.payload.fingerprint and reading.document and reading.document.words and len(reading.links) == 2


def test_words_are_those_that_a_reader_sees() -> None:
    """Scripts and what is made up for a visitor tell no two pages apart; another sentence does."""

    def words(page: bytes) -> str | None:
        reading = read(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page, PAGE, ContentDetector())
        return reading.document.words if reading.document else None

    one = words(b"<p>%b of visitor deadbeef00c0ffee<script>1</script>" % TEXT)
    assert one == words(b"<p>%b of visitor 0123456789abcdef<script>2</script><noscript>3</noscript>" % TEXT)
    assert one != words(b"<p>Another: %b of visitor deadbeef00c0ffee" % TEXT)


def test_of_what_is_asked_for_once_more_each_word_is_told_but_for_that_of_its_address() -> None:
    """Where no unknown query is answered it is asked for as it is: its address does not tell that it was a look."""
    answer = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<p>a story of a</p>"
    plain, told = (read(answer, order, ContentDetector()).document for order in (PAGE, PAGE._replace(says=True)))
    assert plain is not None
    assert told is not None
    assert sayings_in(plain.words) is None
    assert sayings_in(told.words) == sorted(crc32(word) for word in (b"story", b"of"))
    assert without_sayings(told.words) == plain.words


def test_of_a_calendars_page_dates_are_no_words() -> None:
    def words(url: str, page: str) -> str | None:
        body = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + page.encode()
        reading = read(body, PAGE._replace(url=url), ContentDetector())
        return reading.document.words if reading.document else None

    november = words("http://h/cal/2026/11", "<h1>November 2026</h1><p>No events. Next: Dec")
    assert november == words("http://h/cal/2027/3", "<h1>March 2027</h1><p>No events. Next: Apr")
    assert november != words("http://h/cal/2027/3", "<h1>March 2027</h1><p>Two events. Next: Apr")
    assert november != words("http://h/cal/2027/3", "<h1>March 2027</h1><p>No events, but <img src=fair.png>")
    assert words("http://h/2027/3", "<p>At most 23 degrees.") != words("http://h/2027/4", "<p>At most 22 degrees.")


@pytest.mark.slow
def test_a_feed_names_no_more_than_a_page_may() -> None:
    """Whoever follows them would be busy with one document for seconds, and no other host be asked."""
    items = "".join(f"<item><link>http://h/{number}</link></item>" for number in range(6_007))
    feed = f"<rss version='2.0'><channel>{items}</channel></rss>".encode()
    raw = b"HTTP/1.1 200 OK\r\nContent-Type: application/rss+xml\r\n\r\n" + feed
    reading = read(raw, PAGE, ContentDetector())
    assert len(reading.links) == 6_000
    assert reading.problems == ("without 7 references after the first 6,000",)


class Raising:
    def fingerprint(self, body, media_type):
        raise ValueError("no")


class Answering:
    def __init__(self, answer):
        self.answer = answer

    def fingerprint(self, body, media_type):
        return self.answer


@pytest.mark.parametrize(
    ("detector", "told"),
    [
        (Raising(), "DataError: SHARC_DETECTOR='mine' raised ValueError: no. That is a fault of this plug-in"),
        (Answering(7), "DataError: SHARC_DETECTOR='mine' answered with int, not text. That is a fault of this plug-in"),
        *(
            (
                Answering(answer),
                f"DataError: SHARC_DETECTOR='mine' answered with {answer!r:.60}, not with up to 1,000 printable"
                " characters. That is a fault of this plug-in",
            )
            for answer in ("\ud800x", "a\0b", "x" * 1_001)
        ),
    ],
)
def test_a_detector_that_fails_loses_no_link(detector, told):
    raw = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=/b>b</a>"
    order = Order("http://h/", Wants.DOCUMENT, compared=True)
    said = reader_process._answer(raw, order, GuardedDetector("mine", detector))
    reading = unpacked_reading(json.loads(json.dumps(said)), "http://h/")
    assert [link.url for link in reading.links] == ["http://h/b"]
    assert reading.problems == (told,)
    assert reading.payload.fingerprint is None
    assert reading.payload.digest
