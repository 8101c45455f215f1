"""One name for every spelling of an address."""

from __future__ import annotations

import re
import string
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st
from w3lib.url import canonicalize_url, safe_url_string

from sharc_crawler.addresses import urls
from sharc_crawler.addresses.urls import canonical, host_of, is_usual, require
from sharc_crawler.errors import UsageError


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://h", "http://h/"),
        ("http://h?", "http://h/"),
        ("http://H.Example:80/A", "http://h.example/A"),
        ("http://Straße.de:81/", "http://xn--strae-oqa.de:81/"),
        ("http://ΒΌΛΟς.gr/", "http://xn--nxasmm1c.gr/"),
        ("http://a_b.日本。example/", "http://a_b.xn--wgv71a.example/"),
        ("http://☕.example/", "http://xn--53h.example/"),
        ("HTTPS://h:443/", "https://h/"),
        ("https://h:80/", "https://h:80/"),
        ("http://h.:8080/", "http://h:8080/"),
        ("http://h:/a", "http://h/a"),
        ("  http://h/a\n", "http://h/a"),
        ("http://h/a\n b", "http://h/a%20b"),
        ("http://h/a\tb/", "http://h/ab/"),
        ("http://h/a#b", "http://h/a"),
        ("http://h/a #b", "http://h/a%20"),
        ("http://h/?a=1\0\x1f #b ", "http://h/?a=1%00%1F+"),
        ("http://h/a/./b/../c", "http://h/a/c"),
        ("http://h/../..", "http://h/"),
        ("http://h//a//b", "http://h//a//b"),
        ("http://h\\a\\b", "http://h/a/b"),
        ("http://h/%7euser", "http://h/~user"),
        ("http://h/caf%c3%a9", "http://h/caf%C3%A9"),
        ("http://h/café", "http://h/caf%C3%A9"),
        ("http://bücher.example/", "http://xn--bcher-kva.example/"),
        ("http://[::0:1]:80/", "http://[::1]/"),
        ("http://h/?b=2&a=1&b=1", "http://h/?a=1&b=1&b=2"),
        ("http://h/?q", "http://h/?q="),
        ("http://h/?q=a+b%20c", "http://h/?q=a+b+c"),
        ("http://h/a;jsessionid=1F2?x=1", "http://h/a?x=1"),
        ("http://h/.;jsessionid=1", "http://h/"),
        ("http://h/(S(abcdefghijklmnopqrstuvwx))/a.aspx", "http://h/a.aspx"),
        ("http://h/accounts/login/?next=%2Fa%2F7&a=1", "http://h/accounts/login/?a=1"),
        ("http://h/Sign-In.aspx?ReturnUrl=/a&a=1", "http://h/Sign-In.aspx?a=1"),
        ("http://h/register?redirect_to=%2Fa%2F7", "http://h/register"),
        ("http://h/register?next=20", "http://h/register?next=20"),
        ("http://h/blogin/?next=7", "http://h/blogin/?next=7"),
        ("http://h/login/a?next=7", "http://h/login/a?next=7"),
        ("http://h/login.php?s=0a1b2c3d0a1b2c3d0a1b2c3d0a1b2c3d&next=a", "http://h/login.php"),
        ("http://h/?PHPSESSID=1&a=1&utm_source=x&fbclid=y", "http://h/?a=1"),
        ("http://h/?utm_source=%20", "http://h/"),
        ("http://h/?PHPSESSID=1;topic=7", "http://h/?PHPSESSID=1%3Btopic%3D7"),  # who knows what is behind it
        ("http://h/?topic=7&utm_term=a%3bb", "http://h/?topic=7&utm_term=a%3Bb"),
        ("http://h/login_page.php?return=%2Fview.php%3Fid%3D1", "http://h/login_page.php"),
        ("http://h/?sessions=1", "http://h/?sessions=1"),
        ("http://h/gb.cgi?page=1&sid=0123456789abcdef0123456789ABCDEF", "http://h/gb.cgi?page=1"),
        ("http://h/?zenid=3c2ab81d9f0e4b7a65d8c1f2e0&osCsid=0a1b2c3d4e5f60718293a4b5c6", "http://h/"),
        ("http://h/showthread.php?s=0123456789abcdef0123456789abcdef&t=7", "http://h/showthread.php?t=7"),
        ("http://h/?s=cafe&t=0123456789abcdef0123456789abcdef", "http://h/?s=cafe&t=0123456789abcdef0123456789abcdef"),
        ("http://h/a.jpg?s=0123456789abcdef0123456789abcdef", "http://h/a.jpg?s=0123456789abcdef0123456789abcdef"),
        ("http://h/?sid=42&inside=abcdefghijklmnopqrstuvwxyz", "http://h/?inside=abcdefghijklmnopqrstuvwxyz&sid=42"),
    ],
)
def test_canonical_form(url: str, expected: str) -> None:
    assert canonical(url) == expected


@pytest.mark.parametrize(
    "url",
    [
        "",
        "h/a",
        "//h/a",
        "/a",
        "http://",
        "http:///a",
        "http://?a",
        "ftp://h/",
        "javascript:void(0)",
        "mailto:a@h",
        "data:text/html,x",
        "http://user@h/",
        "http://user:secret@h/",
        "http://h:99999/",
        "http://h:0/",
        "http://h:a/",
        "http://a..b/",
        "http://a b/",
        "http://[::1/",
        "http://[1:2]/",
        "http://" + "a" * 254 + "/",
        "http://h/\ud800",
        "http://é" + "a" * 300 + "/",
    ],
)
def test_what_is_no_web_address_has_no_canonical_form(url: str) -> None:
    assert canonical(url) is None
    with pytest.raises(UsageError, match="is not a web address"):
        require(url)


def test_require_gives_the_canonical_form() -> None:
    assert require("HTTP://h") == "http://h/"


def test_host_keeps_a_port_that_is_not_the_default() -> None:
    assert [host_of(url) for url in ("http://h/", "https://h:8443/a?b=//c", "http://[::1]:81/")] == [
        "h",
        "h:8443",
        "[::1]:81",
    ]


ALPHABET = string.ascii_letters + string.digits + "/.;?&=%#:@\\-_~ +()!'*,é\t\n"
addresses = st.builds(
    "{}://{}{}".format,
    st.sampled_from(["http", "https", "HTTP"]),
    st.sampled_from(["h", "H.example", "h:80", "h.:8080", "bücher.example", "[::1]", "127.0.0.1", "u@h", "a_b.c"]),
    st.one_of(
        st.text(),
        st.text(ALPHABET).map("/{}".format),
        st.lists(
            st.sampled_from(
                ["/", "//", "..", ".", "%2e", "%2F", "%25", "%C3%A9", ";jsessionid=", "?", "&", "=", "utm_a=", "a", "%"]
            )
        ).map(lambda parts: "/" + "".join(parts)),
    ),
)


@pytest.mark.slow
@given(addresses)
def test_idempotent(url: str) -> None:
    once = canonical(url)
    assert once is None or canonical(once) == once


@given(st.text("a/.;?&=%2e# \0\x1f\té").map("http://h/{}#top".format))
def test_what_is_asked_for_has_the_name_of_the_page(url: str) -> None:
    assert canonical(safe_url_string(url)) == canonical(url)


@given(st.text())
def test_any_text_has_an_answer(text: str) -> None:
    found = canonical(text)
    assert found is None or found.isascii()


@given(st.text(ALPHABET).filter(str.isprintable).map(str.strip).map("http://h/{}".format))
def test_the_short_way_agrees_with_w3lib(url: str) -> None:
    with pytest.MonkeyPatch.context() as patch:  # nothing is left out
        for name in ("_PARAMETERS", "_IN_PATH"):
            patch.setattr(urls, name, re.compile("(?!)"))
        assert urls._long_way(url) == canonicalize_url(url)


@pytest.mark.parametrize("url", ["http://h/" + "a/" * 10_000, "http://" + "a" * 10**6, "http://h/" + "%" * 10**6])
def test_what_no_server_takes_is_no_address(url: str) -> None:
    assert canonical(url) is None


@given(addresses | st.text(ALPHABET).map("http://h/{}".format))
def test_what_is_usual_is_asked_for_as_it_is(url: str) -> None:
    assert not is_usual(url) or safe_url_string(url) == url


def test_what_a_session_is_called_tells_talks_apart_and_users_do_not():
    talks = {canonical(f"http://h.example/talk?session_id={number}") for number in (1, 12, "2026-a", "keynote")}
    assert len(talks) == 4
    users = {canonical(f"http://h.example/talk?session_id={letter * 25}1") for letter in "ab"}
    assert users == {"http://h.example/talk"}


def test_a_name_that_is_too_long_is_refused_before_it_is_encoded():
    """Punycode takes the square of its length: of 50,000 such names in a sitemap, 25 seconds."""
    calls = 0

    def count(*_: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        found = canonical("http://" + "é" * 200 + ".example/")
    finally:
        sys.setprofile(None)
    assert found is None
    assert calls < 100
    assert (
        canonical("http://" + "e\u0301" * 40 + ".example/") == canonical("http://" + "é" * 40 + ".example/") is not None
    )
