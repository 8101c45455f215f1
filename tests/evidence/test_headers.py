from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.evidence.headers import UNTOLD, header_bytes, header_text, of_headers
from sharc_crawler.evidence.validators import made_on_request, weak
from sharc_crawler.model import Outcome, Result, Validators


@given(st.binary())
def test_a_value_is_its_bytes(value):
    assert header_bytes(header_text(value) or "") == value.strip()


@pytest.mark.parametrize(
    ("said", "part"),
    [
        ([], False),
        ([b"bytes 0-9/10"], False),
        ([b"bytes 0-9/11"], True),
        ([b"bytes 1-9/10"], True),
        ([b"bytes 0-9/*"], True),
        ([b"bytes */10"], True),
        ([b"items 0-9/10"], True),
        ([b"bytes 0-9/10", b"bytes 0-9/11"], True),
    ],
)
def test_a_content_range_that_does_not_say_that_all_is_there_is_of_a_part(said, part):
    assert of_headers([(b"Content-Range", one) for one in said])["part"] is part


@pytest.mark.parametrize(
    ("name", "said", "age"),
    [
        ("Age", b"7", 7.0),
        ("Age", b"0, 9", 9.0),
        ("Age", b"soon", UNTOLD),
        ("Cache-Status", b"edge; fwd=miss", None),
        ("Cache-Status", b"edge; hit", UNTOLD),
        ("Warning", b'110 - "stale"', UNTOLD),
        *(("X-Cache", text, UNTOLD) for text in (b"TCP_HIT from a", b"HIT, MISS", b"UPDATING", b"Hit from a cloud")),
        *(("X-Cache", text, None) for text in (b"MISS", b"RefreshHit from a", b"TCP_REFRESH_HIT", b"BYPASS", b"white")),
        ("Akamai-Cache-Status", b"Hit from child", UNTOLD),
        ("X-Vercel-Cache", b"STALE", UNTOLD),
        ("CDN-Cache", b"PULL", None),
        ("X-Cache-Lookup", b"Cache Hit", UNTOLD),
        ("Server-Timing", b"cdn-cache; desc=HIT, edge; dur=1", UNTOLD),
        ("Server-Timing", b"db; desc=hit, cdn-cache; desc=MISS", None),
        *((name, b"HIT", UNTOLD) for name in ("X-Cache-Remote", "X-CDN-Cache-Status", "X-Nginx-Cache", "x-77-cache")),
        *((f"X-{name}-Cache", b"HIT", None) for name in ("Nextjs", "Redis", "WP", "TYPO3", "Page", "Object")),
        *(("X-Cache", words, None) for words in (b"no hit", b"NO-HIT")),
        *(
            (name, b"HIT", None) for name in ("X-Drupal-Cache", "X-Drupal-Dynamic-Cache", "X-LiteSpeed-Cache")
        ),  # its own
        *((name, b"hit", None) for name in ("Cache-Control", "X-Cache-Key", "X-Cache-Tags", "X-Cache-Hits")),
    ],
)
def test_what_is_a_copy_from_a_cache_and_how_old_it_is(name, said, age):
    assert of_headers([(name.encode(), said)])["age"] == age


def test_what_squid_finds_and_does_not_take_is_no_copy():
    found = (b"X-Cache-Lookup", b"HIT from a:3128")
    assert of_headers([(b"X-Cache", b"MISS from a"), found])["age"] is None
    assert of_headers([found])["age"] == UNTOLD


@pytest.mark.parametrize(("etag", "is_weak"), [('"1"', False), ('W/"1"', True), ("1", True), ('"1", "2"', True)])
def test_what_is_no_etag_by_the_grammar_is_weak(etag, is_weak):
    assert weak(Outcome(Result.OK, 0, 1, validators=Validators(etag))) is is_weak


@pytest.mark.parametrize(("date", "made"), [(5.0, True), (6.0, True), (6.1, False), (None, False)])
def test_a_last_modified_within_a_second_of_its_date_was_made_on_request(date, made):
    said = Validators(None, "Thu, 01 Jan 1970 00:00:05 GMT")
    assert made_on_request(Outcome(Result.OK, 6.0, 7.0, 200, validators=said, date=date)) is made
    assert not made_on_request(Outcome(Result.OK, 6.0, 7.0, 200, date=date))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"Content-Type": b"text/html; charset=utf-8, text/html; charset=koi8-r"}, b"windows-1251"),
        ({"Content-Type": b'text/html; a=";charset=utf-8"; charset=koi8-r'}, b"windows-1251"),
        ({"Content-Type": b"text/html", "Refresh": b"0; url=/koi8-r"}, b"elsewhere"),
    ],
)
def test_the_same_bytes_may_be_another_page_by_what_is_said_beside_them(one, other):
    """Of types joined by a comma, browsers take the last; a charset within quotes is none; Refresh leads elsewhere."""
    before = [(name.encode(), value) for name, value in one.items()]
    after = [(name, value.replace(b"koi8-r", other)) for name, value in before]
    told = [of_headers(headers) for headers in (before, after)]
    assert told[0]["media_type"] == told[1]["media_type"] == "text/html"
    assert told[0]["charset"] != told[1]["charset"]
