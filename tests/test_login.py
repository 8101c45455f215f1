"""Whose requests a crawl makes: files of cookies and storage, what ends a session, what is nobody else's business."""

from __future__ import annotations

import json
import logging
import time
from base64 import b64encode
from dataclasses import replace

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.frontier import Frontier
from sharc_crawler.instants import second
from sharc_crawler.login import Cookie, Login, is_log_out, read_cookies, read_login, read_netrc, read_state
from sharc_crawler.model import Kind, Sighting
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.conftest import World

NETSCAPE = (
    "# Netscape HTTP Cookie File\n\n"
    ".h.example\tTRUE\t/\tFALSE\t0\tsid\ttopsecret\n"
    "#HttpOnly_h.example\tFALSE\t/in\tTRUE\t2000000000\tstaff\tyes\n"
)


def put(folder, text: str) -> str:
    path = folder / "file"
    path.write_text(text)
    return str(path)


def test_cookies_of_a_file(tmp_path):
    assert read_cookies(put(tmp_path, NETSCAPE)) == (
        Cookie("sid", "topsecret", "h.example", "/", subdomains=True),
        Cookie("staff", "yes", "h.example", "/in", secure=True, expires=2e9, http_only=True),
    )


def test_a_storage_state(tmp_path):
    cookie = {"name": "sid", "value": "s", "domain": ".h.example", "path": "/", "expires": -1, "httpOnly": True}
    items = [{"name": "token", "value": "topsecret"}]
    state = {"cookies": [cookie], "origins": [{"origin": "https://h.example", "localStorage": items}]}
    login = read_state(put(tmp_path, json.dumps(state)))
    assert login.cookies == (Cookie("sid", "s", "h.example", subdomains=True, http_only=True),)
    assert login.storage == {"https://h.example": {"token": "topsecret"}}


@pytest.mark.parametrize(
    ("reads", "text", "said"),
    [
        (read_cookies, "h.example topsecret", "line 1 is no cookie in Netscape's format"),
        (read_cookies, "# nothing", "holds no cookies; export them while you are logged in"),
        (read_cookies, "h\tFALSE\t/\tFALSE\tsoon\ta\tb", "line 1 is no cookie"),
        (read_cookies, "h\tFALSE\t/\tFALSE\t0\ta\tb;c", "the cookie 'a' has characters that no header may carry"),
        (read_state, "[]", "is no storage state of Playwright"),
        (read_state, '{"cookies": [{"name": "a"}]}', "is no storage state of Playwright"),
        (read_state, "{}", "holds no cookies"),
        (read_netrc, "machine h.example login ann password topsecret what", "line 1: it is none of machine HOST login"),
        (read_netrc, "default login ann password topsecret", "has a default, which would go to every host"),
        (read_netrc, "# none", "names no machine: write machine HOST login USER password WORD"),
    ],
)
def test_a_file_that_is_none_is_named_without_its_values(tmp_path, reads, text, said):
    with pytest.raises(UsageError, match=said) as error:
        reads(put(tmp_path, text))
    assert "topsecret" not in str(error.value)


def test_passwords_of_a_file_go_to_their_host_alone_and_are_masked(tmp_path):
    read = read_netrc(put(tmp_path, "machine H.example login ann password top:secret-word\n"))
    login = Login(passwords=read)
    sent = login.headers("http://h.example:8080/x", 0.0)
    assert sent == {"Authorization": f"Basic {b64encode(b'ann:top:secret-word').decode()}"}
    assert login.headers("http://www.h.example/", 0.0) == {}
    request = f"GET /?p=top:secret-word HTTP/1.1\r\nAuthorization: {sent['Authorization']}\r\n\r\n".encode()
    assert login.redacted(request) == b"GET /?p=top:secret-word HTTP/1.1\r\nAuthorization: " + b"*" * 34 + b"\r\n\r\n"
    assert (login.in_vain(["http://h.example/"], 0.0), "top:" in repr(login)) == ({}, False)
    assert login.in_vain(["http://i.example/"], 0.0) == {"session_cookies": "none was for i.example"}


def test_a_cookie_that_ends_meanwhile_is_sent_on_and_the_first_to_end_is_named(tmp_path):
    own = f"h.example\tFALSE\t/\tFALSE\t{time.time() + 60:.0f}\tsid\ttopsecret\nh.example\tFALSE\t/\tFALSE\t1\told\tx\n"
    login = read_login(put(tmp_path, f"{own}h.example\tFALSE\t/\tFALSE\t{time.time() + 9:.0f}\t_ga\tx\n"), None)
    assert login is not None
    ends = next(one.expires for one in login.cookies if one.name == "sid")
    assert login.headers("http://h.example/", login.since) == {"Cookie": "sid=topsecret; _ga=x"}
    assert [one.name for one in login.living] == ["sid", "_ga"]
    assert login.as_settings(["http://h.example/"], login.since) == {"session_ends": second(ends)}
    spec = CaptureSpec("h.example", ("http://h.example/",))
    (line,) = login.warnings([spec])
    assert f"sid ends at {second(ends)}, perhaps before the capture does" in line
    assert list(replace(login, since=login.since - 8 * 86_400).warnings([spec])) == [], "that is far"


def test_a_file_that_is_not_there():
    with pytest.raises(UsageError, match="cookies='/no/file' cannot be read: No such file"):
        read_cookies("/no/file")
    assert read_login(None, None) is None


@pytest.mark.parametrize(
    ("url", "sent"),
    [
        ("http://h.example/", "sid=1"),
        ("http://www.h.example/", "sid=1"),
        ("http://evilh.example/", ""),
        ("http://h.example.evil/", ""),
        ("https://h.example/in", "staff=2; sid=1"),
        ("https://h.example/in/x", "staff=2; sid=1"),
        ("https://h.example/inner", "sid=1"),
        ("https://www.h.example/in", "sid=1"),
        ("http://h.example/in", "sid=1"),
    ],
)
def test_cookies_are_sent_to_whom_they_are_meant_for(url, sent):
    login = Login(
        (Cookie("sid", "1", "h.example", subdomains=True), Cookie("staff", "2", "h.example", "/in", secure=True))
    )
    assert login.headers(url, 0.0).get("Cookie", "") == sent


def test_a_cookie_that_has_expired_is_sent_no_more():
    login = Login((Cookie("a", "1", "h", expires=100.0),))
    assert [login.headers("http://h/", now).get("Cookie", "") for now in (99.0, 100.0)] == ["a=1", ""]


def test_secrets_are_masked_wherever_they_stand():
    login = Login((Cookie("a", "topsecret", "h"),), {"http://h": {"token": "storedsecret"}})
    request = (
        b"POST / HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer x\r\nX-CSRF-Token: abc\r\nX-Own: storedsecret\r\n\r\n"
        b'{"token": "topsecret"}'
    )
    masked = login.redacted(request)
    assert len(masked) == len(request), "lengths hold"
    assert masked == (
        b"POST / HTTP/1.1\r\nHost: h\r\nAuthorization: ********\r\nX-CSRF-Token: ***\r\nX-Own: ************\r\n\r\n"
        b'{"token": "*********"}'
    )
    assert Login(login.cookies, login.storage, keeps_secrets=True).redacted(request) == request


ENDING = (
    "logout", "log-out?x", "u/sign_out", "do.php?action=logoff", "doLogOut", "SIGNOUT", "Spezial:Abmelden",
    "index.php?title=Special:UserLogout", "d%C3%A9connexion",
)  # fmt: skip


@pytest.mark.parametrize("path", ENDING)
def test_what_would_end_a_session(path):
    assert is_log_out(f"https://h.example/{path}")


@pytest.mark.parametrize("path", ["", "blog/out", "logoutput", "catalogout", "login", "signs/out-of", "blogoff"])
def test_what_would_not(path):
    assert not is_log_out(f"https://logout.example/{path}")


def test_nothing_that_would_end_the_session_or_order_something_in_it_is_asked_for():
    ending = [Sighting("http://h/logout"), Sighting("http://h/sign-out.gif", Kind.RESOURCE)]
    named = [*ending, Sighting("http://h/p?action=delete"), Sighting("http://h/how-to-delete"), Sighting("http://h/a")]
    asked = {}
    for session in ("", "reader"):
        world, store = World(), MemoryStore()
        world.links = {"http://h/": named}
        frontier = Frontier(store=store)
        frontier.open(CaptureSpec("h", ("http://h/",), strategy="bfs", sitemaps=(), session=session), world.now)
        world.run(frontier)
        asked[session] = {page.url for page in store.load().pages if page.kind is not Kind.ROBOTS}
    assert asked[""] - asked["reader"] == {"http://h/logout", "http://h/sign-out.gif", "http://h/p?action=delete"}
    assert {"http://h/a", "http://h/how-to-delete"} <= asked["reader"]
    order = "in a session, it would be an order to the server, by its name"
    assert sorted(row.reason for row in store.load().outside) == [order, *["it would end the session"] * 2]


def test_what_is_printed_of_a_login_holds_no_secret():
    login = Login((Cookie("s", "topsecret", "h"),), {"http://h": {"token": "storedsecret"}})
    assert "topsecret" not in repr(login)
    assert "stored" not in repr(login)


@pytest.fixture
def records_as_they_were():
    made = logging.getLogRecordFactory()
    yield
    logging.setLogRecordFactory(made)


@pytest.mark.usefixtures("records_as_they_were")
def test_secrets_are_masked_in_whatever_form_and_in_what_is_logged(tmp_path, caplog):
    token = "abc/DEF+123==456789012345"
    stored = [{"name": "auth", "value": json.dumps({"session": {"token": token}, "user": "ann"})}]
    state = {"origins": [{"origin": "https://h.example", "localStorage": stored}]}
    login = read_login(None, put(tmp_path, json.dumps(state)))
    assert login is not None
    in_address = f"https://h.example/?t={token.replace('/', '%2F').replace('+', '%2b')}"
    assert login.note_of(in_address).startswith("addresses hold values of the session")
    assert not login.note_of("https://h.example/ann")
    logging.getLogger("any").warning("%s is asked for by %s", in_address, "ann")
    assert caplog.messages == [f"https://h.example/?t={'*' * (len(token) + 4)} is asked for by ann"]
