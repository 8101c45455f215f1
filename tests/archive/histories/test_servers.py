"""The dialects of archives: every question from the answers before it, and what is no whole answer."""

from __future__ import annotations

import json
from urllib.parse import parse_qs, urlsplit

import pytest

from sharc_crawler.archive.histories.servers import NOTHING, CaptureQuery, Pywb, TimeMap, Wayback, dialect
from sharc_crawler.errors import DataError, UsageError

PAGE = CaptureQuery("http://a.org/x?q=1&r=2")
SITE = CaptureQuery("http://a.org/d/index.html", website=True, since="20200101000000")
NAMES = ["urlkey", "timestamp"]
ROW = ["org,a)/", "20200101000000"]


def fields(question: str | None) -> dict[str, str]:
    return {name: values[0] for name, values in parse_qs(urlsplit(question or "").query).items()}


def test_wayback_goes_on_with_the_resume_key():
    server = Wayback("https://x.example/cdx/search/cdx")
    first = fields(server.question(PAGE, []))
    assert (first["url"], first["output"], first["showResumeKey"]) == (PAGE.url, "json", "true")
    more = json.dumps([NAMES, ROW, [], ["key +1"]]).encode()
    assert fields(server.question(PAGE, [more])) == first | {"resumeKey": "key +1"}
    assert server.question(PAGE, [more, json.dumps([NAMES, ROW]).encode()]) is None
    assert server.question(PAGE, [NOTHING]) is None
    assert fields(server.question(SITE, []))["url"] == "http://a.org/d/"
    assert server.replay() == "https://x.example/web/"


ODD = {
    "deep": b"[" * 200_000 + b"]" * 200_000,
    "no list": b'[["a"],[],5]',
    "no text": b'[["a"],[],[null]]',
    "half a letter": b'[["a"],[],["\\ud800"]]',
    "long": b'[["a"],[],["%b"]]' % (b"x" * 1_000_000),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD)
def test_what_no_question_can_be_made_of_is_no_answer(odd):
    with pytest.raises(DataError, match="not ") as raised:
        Wayback("https://x.example/cdx/search/cdx").check(odd)
    assert len(str(raised.value)) < 200
    TimeMap("http://x.example/timemap/link/").question(PAGE, [odd])


def test_pywb_asks_once_for_a_page_and_page_by_page_for_a_site():
    server = Pywb("http://x.example/coll/cdx")
    assert "page" not in fields(server.question(PAGE, []))
    assert server.question(PAGE, [b"line"]) is None
    asked = [fields(server.question(SITE, answers))["page"] for answers in ([], [b"1"], [b"1", b"2"])]
    assert asked == ["0", "1", "2"]
    assert server.question(SITE, [b"1", b"2", b"2"]) is None  # an index without pages says the same again
    assert server.question(SITE, [b"1", NOTHING]) is None
    assert [server.ends(status, answers) for status, answers in ((404, []), (400, [b"1"]), (400, []))] == [1, 1, 0]
    assert server.replay() == "http://x.example/coll/"


def test_pywb_names_the_dialect_of_a_json_array():
    with pytest.raises(DataError, match="--dialect wayback"):
        Pywb("http://x.example/cdx").check(json.dumps([NAMES, ROW]).encode())


def test_timemap_reads_the_pages_that_are_named_on_its_server_once():
    server = TimeMap("http://x.example/timemap/link/")
    first = "http://x.example/timemap/link/http://a.org/x?q=1&r=2"
    assert server.question(PAGE, []) == first
    index = (
        '<http://a.org/>; rel="original", <http://x.example/timemap/2>; rel="timemap",\n'
        f'<http://elsewhere.example/3>; rel="timemap", <{first}>; rel="self timemap"'
    ).encode()
    assert server.question(PAGE, [index]) == "http://x.example/timemap/2"
    assert server.question(PAGE, [index, index]) is None
    document = json.dumps({"timemap_index": [{"uri": "http://x.example/timemap/4"}]}).encode()
    assert server.question(PAGE, [document]) == "http://x.example/timemap/4"


@pytest.mark.parametrize(
    ("name", "body", "good"),
    [
        ("wayback", b"[]", True),
        ("wayback", b'[["urlkey"],["a"', False),
        ("wayback", b"", False),
        ("wayback", b'{"timestamp": "1"}', False),
        ("wayback", b" <!DOCTYPE html><html>", False),
        ("pywb", b"", True),
        ("pywb", b'{"timestamp": "1"}\n{"timestamp": "2"}\n', True),
        ("pywb", b'org,a)/ 2020 {"url": "http://a.org/"}\n', True),
        ("pywb", b'{"timestamp": "1"}\n{"timest', False),
        ("pywb", b'{"message": "Internal Error"}', False),
        ("pywb", b"<html>", False),
        ("timemap", b'<http://a.org/>; rel="original"', True),
        ("timemap", b'<http://a.org/>; rel="original", <http://x/2020', False),
        ("timemap", b'{"mementos": {"list": []}}', True),
        ("timemap", b'{"mementos": {"li', False),
        ("timemap", b"<!doctype html>", False),
    ],
)
def test_what_is_no_whole_answer(name, body, good):
    server = dialect("http://x.example/", name)
    if good:
        server.check(body)
    else:
        with pytest.raises(DataError):
            server.check(body)


def test_an_unknown_dialect():
    with pytest.raises(UsageError, match="did you mean 'wayback'"):
        dialect("http://x.example/", "waybac")


CAPTURES = {
    "wayback": b'[["urlkey","timestamp","original","statuscode","digest"],["%b)/","20200101000000","http://%b/","200","A"]]',
    "pywb": b'{"urlkey": "%b)/", "timestamp": "20200101000000", "url": "http://%b/", "status": "200"}\n',
    "timemap": b'<http://%b/>; rel="original"%.0b',
}


@pytest.mark.parametrize("name", CAPTURES)
def test_captures_of_another_host_are_no_answer(name):
    server, seed = dialect("http://x.example/", name), CaptureQuery("http://www.a.org:80/")
    keys = (b"org,a", b"a.org") if name != "timemap" else (b"a.org", b"")
    server.check_page(seed, CAPTURES[name] % keys)
    server.check_page(seed, NOTHING)
    others = (b"org,other", b"other.org") if name != "timemap" else (b"other.org", b"")
    with pytest.raises(DataError, match="not of"):
        server.check_page(seed, CAPTURES[name] % others)


def test_a_line_of_cdxj_tells_its_host_too():
    with pytest.raises(DataError, match="org,other"):
        Pywb("http://x.example/cdx").check_page(PAGE, b'org,other)/ 20200101000000 {"url": "http://other.org/"}\n')
