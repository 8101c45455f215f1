"""Answers kept for pages that may want them."""

from __future__ import annotations

import gzip

import pytest

from sharc_crawler.bodies.spool import LARGE, Spool
from sharc_crawler.errors import UsageError
from sharc_crawler.live.browser.answers import FOLDER, MOST, PART, KeptAnswers, for_browser, sealed
from sharc_crawler.live.browser.chromium import PROFILE
from sharc_crawler.live.requests import Sent
from sharc_crawler.login import Cookie, Login

URL = "http://h/api"
HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/css\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"


def test_an_answer_is_kept_whole_and_what_was_asked_with_it(tmp_path):
    answers = KeptAnswers(tmp_path)
    large = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * LARGE
    answers.keep(3, b"HTTP/1.1 204\r\n\r\n")
    answers.keep(4, large)
    asked = Sent({"Accept": "application/json"}, "POST", b"\x00")
    answers.ask(3, URL, asked)
    again = KeptAnswers(tmp_path)  # as a crawl that goes on
    assert again.of(3) == b"HTTP/1.1 204\r\n\r\n"
    spooled = again.of(4)
    assert isinstance(spooled, Spool)
    assert spooled[:] == large
    assert (again.of(5), again.asked(4, URL)) == (None, Sent())
    assert again.asked(3, URL) == asked
    assert again.asked(3, "http://h/style.css") == Sent(), "a crash took the former 3 back"
    again.clear()
    assert not (tmp_path / FOLDER).exists()


@pytest.mark.slow
def test_what_was_asked_in_a_session_is_read_by_that_session_alone(tmp_path):
    own, other = (Login((Cookie("sid", value, "h"),)) for value in ("topsecret", "another"))
    asked = Sent({"Authorization": "Bearer of-a-moment"}, "POST", b"topsecret")
    KeptAnswers(tmp_path, sealed(own, tmp_path)).ask(3, URL, asked)
    (file,) = (tmp_path / FOLDER).iterdir()
    assert not any(secret in file.read_bytes() for secret in (b"of-a-moment", b"Authorization", b"topsecret"))
    assert KeptAnswers(tmp_path, sealed(own, tmp_path)).asked(3, URL) == asked, "as a crawl that goes on"
    for output in (tmp_path, tmp_path.parent):
        with pytest.raises(UsageError, match="begun with other values of cookies= or state="):
            sealed(other, output)
    assert sealed(None, tmp_path) is None


def test_a_browser_is_given_what_its_scripts_may_read():
    packed = gzip.compress(b"a{}")
    raw = HEAD + b"%x\r\n%b\r\n0\r\n\r\n" % (len(packed), packed)
    answer = for_browser(raw, None)
    assert answer == (200, [("Content-Type", "text/css")], b"a{}")
    said = b"HTTP/1.1 404 No\r\nAccess-Control-Allow-Origin: http://other\r\n\r\n"
    assert for_browser(said, "http://h").headers[0] == ("Access-Control-Allow-Origin", "http://h")
    assert for_browser(b"garbage", None) is None


@pytest.mark.matrix
@pytest.mark.slow
@pytest.mark.parametrize(
    ("span", "status", "part"),
    [
        ("bytes=0-", 206, slice(0, PART)),
        ("bytes=5-6", 206, slice(5, 7)),
        (f"bytes={MOST}-", 206, slice(MOST, MOST + 9)),
        ("bytes=-3", 206, slice(MOST + 6, MOST + 9)),
    ],
)
def test_what_is_asked_for_in_parts_is_given_in_parts_of_the_whole(tmp_path, span, status, part):
    film = tmp_path / "film"
    body = b"x" * MOST + b"the end.."
    film.write_bytes(b"HTTP/1.1 200 OK\r\nContent-Type: video/mp4\r\n\r\n" + body)
    answer = for_browser(Spool(film), None, span)
    assert (answer.status, answer.body) == (status, body[part])
    end = min(part.stop, len(body))
    assert ("Content-Range", f"bytes {part.start}-{end - 1}/{len(body)}") in answer.headers
    assert for_browser(Spool(film), None, "bytes=99999999999-") is None, "too large as a whole"


def test_what_a_killed_browser_left_goes_its_socket_too(tmp_path):
    socket = tmp_path / "org.chromium.Chromium.abc" / "SingletonSocket"
    socket.parent.mkdir()
    for name in ("SingletonSocket", "SingletonCookie"):
        socket.with_name(name).touch()
    profile = tmp_path / FOLDER / f"{PROFILE}1"
    profile.mkdir(parents=True)
    (profile / "SingletonSocket").symlink_to(socket)
    KeptAnswers(tmp_path)
    assert not profile.exists()
    assert not socket.parent.exists()
