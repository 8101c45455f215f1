"""A capture in somebody's session: what it sees, what it leaves alone, and where its secrets are not."""

from __future__ import annotations

import gzip
import json
import time
from base64 import b64encode
from http.server import BaseHTTPRequestHandler

import pytest

from sharc_crawler.archive.members import Record, records
from sharc_crawler.certificate.verify import verify
from sharc_crawler.errors import UsageError
from sharc_crawler.instants import second
from sharc_crawler.live.browser import chromium
from sharc_crawler.live.setup.arguments import Arguments
from tests.live.serving import Answering, serving

SECRET, TOKEN = "topsecret-session", "topsecret-token"
PAGE = (
    "<title>in</title><p>Members only, number one of all</p>"
    "<a href=/logout>x</a><img src=/sign-out.gif><a href=/a>a</a>"
)
APP = (
    "<title>app</title><p id=p></p><script>fetch('/late?jwt=' + localStorage.token);"
    "fetch('/api', {headers: {Authorization: 'Bearer ' + localStorage.token}})"
    ".then(got => got.text()).then(text => { p.innerHTML = text + document.cookie.length + '<a href=/api/Logout>' })"
    "</script>"
)


def members(asked: list[str]):
    class Members(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def do_GET(self):
            asked.append(self.path)
            known = self.headers.get("Cookie") == f"sid={SECRET}"
            if self.path == "/api":
                known = known and self.headers.get("Authorization") == f"Bearer {TOKEN}"
            body = (APP if self.path == "/app" else PAGE) if known else "<p>Who are you?</p>"
            self.send_response(200 if known and self.path != "/robots.txt" else 403)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

    return Members


def cookies(folder, host: str = "127.0.0.1") -> str:
    path = folder / "cookies.txt"
    path.write_text(f"{host}\tFALSE\t/\tFALSE\t0\tsid\t{SECRET}\n")
    return str(path)


def left(folder) -> bytes:
    """All that a capture left behind."""
    parts = [path.read_bytes() for path in folder.rglob("*") if path.is_file()]
    return b"".join(gzip.decompress(part) if part[:2] == b"\x1f\x8b" else part for part in parts)


def warcinfo(done) -> bytes:
    with done.warcs[0].open("rb") as stream:
        return next(one.text for one in records(stream) if isinstance(one, Record))


def test_a_session_shows_what_is_its_own_and_its_secrets_are_left_nowhere(crawl, tmp_path):
    asked: list[str] = []
    with serving(members(asked)) as url:
        done = crawl(url=url, cookies=cookies(tmp_path), session="reader", delay="0", sitemap="off")
    assert done.code == 0, done.err
    assert {"/", "/a"} <= set(asked)
    assert not {"/logout", "/sign-out.gif"} & set(asked), "nothing ends the session"
    pages = {page["url"]: page["verdict"] for page in done.capture["pages"] if page["kind"] == "page"}
    assert pages == {url: "coherent", f"{url}a": "coherent"}, "both downloads are made in it"
    assert done.capture["settings"]["session"] == "reader"
    assert any("in a session (reader)" in note for note in done.capture["notes"])
    assert json.loads((done.folder / "certificate.json").read_text())["capture"]["settings"]["session"] == "reader"
    assert b"session: reader; its secrets are masked in requests" in warcinfo(done)
    assert b"sid=" not in left(done.folder)
    assert b"Cookie: ***" in left(done.folder)
    assert SECRET not in done.out + done.err
    assert not verify(done.folder).findings


def test_passwords_are_sent_and_left_nowhere(crawl, tmp_path):
    word = b64encode(f"ann:{SECRET}".encode()).decode()

    class Asking(Answering, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("Authorization") != f"Basic {word}":
                self.answer(b"who are you?", status=401, WWW_Authenticate='Basic realm="r"')
            else:
                self.answer(b"<title>in</title><a href=/a>a</a>", status=404 if self.path == "/robots.txt" else 200)

    (tmp_path / "netrc").write_text(f"machine 127.0.0.1 login ann password {SECRET}\n")
    with serving(Asking) as url:
        done = crawl(url=url, netrc=str(tmp_path / "netrc"), session="reader", delay="0", sitemap="off", limit="5")
        headers = f'DEFAULT_REQUEST_HEADERS={{"Authorization": "Basic {word}"}}'
        refused = crawl(url=url, output=str(tmp_path / "other"), settings=[headers])
    assert done.code == 0, done.err
    assert {page["verdict"] for page in done.capture["pages"]} == {"coherent"}
    assert any("in a session (reader)" in note for note in done.capture["notes"])
    assert b"Authorization: ***" in left(done.folder)
    assert word.encode() not in left(done.folder) and SECRET.encode() not in left(done.folder)
    assert SECRET not in done.out + done.err
    assert not verify(done.folder).findings
    assert refused.code == 2
    assert "DEFAULT_REQUEST_HEADERS: Authorization would go to every host" in refused.err


@pytest.mark.matrix
@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("other.example\tFALSE\t/\tFALSE\t0\tsid", "none was for 127.0.0.1"),
        ("127.0.0.1\tFALSE\t/\tFALSE\t1000000000\tsid", "those for 127.0.0.1 had expired"),
    ],
)
def test_a_session_that_no_request_is_made_in_is_not_claimed(crawl, tmp_path, line, said):
    (tmp_path / "cookies.txt").write_text(f"{line}\t{SECRET}\n")
    asked: list[str] = []
    with serving(members(asked)) as url:
        terms = {"url": url, "cookies": str(tmp_path / "cookies.txt"), "delay": "0", "sitemap": "off"}
        plan, done = crawl(**terms, dry_run="1"), crawl(**terms)
    assert said in " ".join(plan.out.split())
    assert f"Of the session's cookies, {said}" in done.err
    (note,) = (note for note in done.capture["notes"] if "session" in note)
    assert f"of the cookies of its session (logged in) {said}" in note
    certified = json.loads((done.folder / "certificate.json").read_text())["capture"]["settings"]
    assert done.capture["settings"]["session_cookies"] == certified["session_cookies"] == said
    assert f"session: logged in, of whose cookies {said}; its secrets".encode() in warcinfo(done)


def test_when_the_cookies_end_is_told_at_the_start(crawl, tmp_path):
    asked: list[str] = []
    ends = int(time.time()) + 60
    (tmp_path / "cookies.txt").write_text(f"127.0.0.1\tFALSE\t/\tFALSE\t{ends}\tsid\t{SECRET}\n")
    with serving(members(asked)) as url:
        terms = {"url": url, "cookies": str(tmp_path / "cookies.txt"), "delay": "0", "sitemap": "off"}
        plan, done = crawl(**terms, dry_run="1"), crawl(**terms)
    for said in (" ".join(plan.out.split()), done.err):
        assert f"sid ends at {second(ends)}, perhaps before the capture does" in said
    assert done.capture["settings"]["session_ends"] == second(ends)
    assert any("in a session" in note for note in done.capture["notes"]), "it did not end"


@pytest.mark.long
def test_secrets_are_kept_where_that_is_asked_for_and_gone_on_with_in_the_same_session_alone(crawl, tmp_path):
    asked: list[str] = []
    with serving(members(asked)) as url:
        terms = {"url": url, "cookies": cookies(tmp_path), "delay": "0", "sitemap": "off"}
        done = crawl(**terms, keep_secrets="1", max_requests="3")
        other = crawl(url=url, delay="0", sitemap="off")
    assert b"session: logged in; its secrets are kept in requests" in warcinfo(done)
    assert any("its secrets are in WARC requests (keep_secrets=1)" in note for note in done.capture["notes"])
    assert not any("addresses hold" in note for note in done.capture["notes"])
    assert done.capture["settings"]["keep_secrets"] is True
    assert f"sid={SECRET}".encode() in left(done.folder)
    assert other.code == 2


@pytest.mark.long
def test_a_browser_is_given_the_session_and_what_scripts_had_stored(crawl, tmp_path):
    try:
        chromium.found()
    except UsageError as error:
        pytest.skip(str(error))
    asked: list[str] = []
    with serving(members(asked)) as url:
        state = tmp_path / "state.json"
        cookie = {"name": "sid", "value": SECRET, "domain": "127.0.0.1", "path": "/", "expires": -1}
        items = [{"name": "token", "value": TOKEN}]
        origins = [{"origin": url.rstrip("/"), "localStorage": items}]
        state.write_text(json.dumps({"cookies": [cookie], "origins": origins}))
        terms = {"url": f"{url}app", "state": str(state), "browser": "always", "delay": "0", "sitemap": "off"}
        done = crawl(**terms, text="1", settings=["LOG_LEVEL=DEBUG"])
    assert done.code == 0, done.err
    assert asked.count("/api") == 2, "before T and after it"
    app = next(page for page in done.capture["pages"] if page["url"] == f"{url}app")
    assert (app["verdict"], app["data"]) == ("coherent", [f"{url}late?jwt={TOKEN}", f"{url}api"])
    assert "/api/Logout" not in asked
    found = left(done.folder)
    assert b"Members only, number one of all" in found
    assert b"Authorization: ***" in found
    assert TOKEN.encode() in found, "a page put it into an address, which is the name of its records"
    assert not [line for line in found.splitlines() if TOKEN.encode() in line and b"?jwt=" not in line]
    assert any("addresses hold values of the session" in note for note in done.capture["notes"])
    assert b"its secrets are masked in requests, but not in addresses" in warcinfo(done)
    assert f"/late?jwt={'*' * len(TOKEN)}" in done.err
    assert TOKEN not in done.out + done.err
    assert SECRET.encode() not in found


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"session": "reader"}, "session='reader' is only for -a cookies=FILE, -a state=FILE or -a netrc=FILE"),
        ({"keep_secrets": "1"}, "keep_secrets='1' is only for -a cookies=FILE"),
        ({"cookies": "/no/file"}, "cookies='/no/file' cannot be read"),
    ],
)
def test_what_is_said_of_a_session_needs_one(given, said):
    with pytest.raises(UsageError, match=said):
        Arguments.parse({"url": "http://h.example/", **given})
