"""pywb, an independent replay tool, shows a capture as it was: at the visit's and at the revisit's time.

How to have one: pywb_server.py. Without it these tests are skipped.
"""

from __future__ import annotations

import gzip
import http.client
import shutil
import subprocess
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.archive.documents import document_file
from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.archive.options import Original
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.changes.http import parse_response
from tests.acceptance.pywb_server import BIN, INSTALLED, MISSING, environment, run, served
from tests.archive.readback import INFO, OK, TOLD, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.skipif(not INSTALLED, reason=MISSING)

SITE = "http://example.org/"
HTML = b"Content-Type: text/html\r\n"
VISIT, REVISIT = 1_795_000_000.5, 1_795_003_600.75  # 2026-11-18 11:06:40 and 12:06:40
VISITED, REVISITED = "20261118110640", "20261118120640"
TEXT = b"<html><body><p>The page, as it was.</p></body></html>"
NEWER = b"<html><body><p>The page has changed.</p></body></html>"
SAME = b'HTTP/1.1 304 Not Modified\r\nETag: "1"\r\n\r\n'


def chunks(data: bytes) -> bytes:
    return (
        b"".join(b"%x\r\n%s\r\n" % (len(data[i : i + 9]), data[i : i + 9]) for i in range(0, len(data), 9))
        + b"0\r\n\r\n"
    )


def answer(name: str) -> bytes:
    """What the server said, by the name of the page."""
    unique = TEXT.replace(b"page", name.encode())
    length = b"Content-Length: %d\r\n\r\n" % len(unique)
    return {
        "plain": OK + HTML + length + unique,
        "unchanged": OK + HTML + length + unique,
        "not-modified": OK + HTML + b'ETag: "1"\r\n' + length + unique,
        "changed": OK + HTML + length + unique,
        "chunked": OK + HTML + b"Transfer-Encoding: chunked\r\n\r\n" + chunks(unique),
        "gzip": OK + HTML + b"Content-Encoding: gzip\r\nConnection: close\r\n\r\n" + gzip.compress(unique, mtime=0),
        "gzip-chunked": OK
        + HTML
        + b"Content-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n"
        + chunks(gzip.compress(unique, mtime=0)),
        "hints": b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" + OK + HTML + length + unique,
        "missing": b"HTTP/1.1 404 Not Found\r\n" + HTML + length + unique,
        # three pages of one content: two are stored as revisits, of different framing
        "twin-a": OK + HTML + b"Content-Length: %d\r\n\r\n" % len(TEXT) + TEXT,
        "twin-b": OK + HTML + b"Content-Length: %d\r\n\r\n" % len(TEXT) + TEXT,
        "twin-chunked": OK + HTML + b"Transfer-Encoding: chunked\r\n\r\n" + chunks(TEXT),
        "twin-chunked-b": OK + HTML + b"Transfer-Encoding: chunked\r\n\r\n" + chunks(TEXT),
        "twin-not-modified": OK + HTML + b"Content-Length: %d\r\n\r\n" % len(TEXT) + TEXT,
    }[name]


NAMES = ["plain", "unchanged", "not-modified", "changed", "chunked", "gzip", "gzip-chunked", "hints", "missing"]
TWINS = ["twin-a", "twin-b", "twin-chunked", "twin-chunked-b", "twin-not-modified"]
SHOWN = {name: TEXT.replace(b"page", name.encode()) for name in NAMES} | dict.fromkeys(TWINS, TEXT)


def capture(folder: Path) -> None:
    """Visit every page, then revisit it."""
    with WarcWriter(folder, "example.org", "run1", INFO) as out:
        for name in SHOWN:
            out.write(page(url=SITE + name, response=answer(name), started=VISIT))
        for name in SHOWN:
            if name.endswith("not-modified"):
                original = Original(SITE + name, VISIT, parse_response(answer(name)).digest)
                out.write_revisit(page(url=SITE + name, response=SAME, started=REVISIT), original)
            elif name == "changed":
                changed = OK + HTML + b"Content-Length: %d\r\n\r\n" % len(NEWER) + NEWER
                out.write(page(url=SITE + name, response=changed, started=REVISIT))
            else:
                out.write(page(url=SITE + name, response=answer(name), started=REVISIT))
        out.write(page(url=SITE + "moved", response=b"HTTP/1.1 301 Moved\r\nLocation: /plain\r\n\r\n", started=VISIT))
        out.write(page(url=SITE + "failed", response=b"", error="reset", started=VISIT))
    with Drafts() as drafts, document_file(folder, "example.org", "run1", TOLD, VISIT, drafts) as documents:
        documents.write("urn:example:certificate", VISIT, b"{}", "application/json")


@dataclass(frozen=True)
class Replay:
    """A collection of a running pywb."""

    port: int
    name: str

    def get(self, path: str) -> tuple[int, dict[str, str], bytes]:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=280)
        connection.request("GET", f"/{self.name}/{path}")
        response = connection.getresponse()
        headers = {name.lower(): value for name, value in response.getheaders()}
        data = response.read()
        connection.close()
        return response.status, headers, gzip.decompress(data) if headers.get("content-encoding") == "gzip" else data


@pytest.fixture(scope="module")
def server(tmp_path_factory) -> Iterator[int]:
    """A running pywb with the capture in two collections: indexed by pywb, and with the index that we write."""
    folder = tmp_path_factory.mktemp("pywb")
    made, ours = folder / "made", folder / "collections" / "ours"
    capture(made)
    run(folder, "wb-manager", "init", "theirs")
    shutil.copytree(folder / "collections" / "theirs", ours)
    run(folder, "wb-manager", "add", "theirs", *map(str, made.glob("*.warc.gz")))
    for path in made.iterdir():
        shutil.copy(path, ours / ("indexes" if path.suffix == ".cdxj" else "archive"))
    with served(folder) as port:
        yield port


@pytest.fixture(params=["theirs", "ours"])
def replay(request, server) -> Replay:
    return Replay(server, request.param)


@pytest.mark.parametrize("when", [VISITED, REVISITED])
def test_every_page_is_shown_at_both_times(replay, when):
    expected = "Wed, 18 Nov 2026 11:06:40 GMT" if when == VISITED else "Wed, 18 Nov 2026 12:06:40 GMT"
    for name in SHOWN:
        status, headers, body = replay.get(f"{when}id_/{SITE}{name}")
        assert status == (404 if name == "missing" else 200), name
        assert body == (NEWER if (name, when) == ("changed", REVISITED) else SHOWN[name]), name
        assert headers["content-type"].startswith("text/html"), name
        assert headers["memento-datetime"] == expected, name


def test_the_timemap_lists_both(replay):
    _, _, body = replay.get(f"timemap/link/{SITE}not-modified")
    text = body.decode()
    assert f"{VISITED}mp_/{SITE}not-modified" in text
    assert f"{REVISITED}mp_/{SITE}not-modified" in text


def test_redirects_are_shown_as_redirects(replay):
    status, headers, _ = replay.get(f"{VISITED}id_/{SITE}moved")
    assert status == 301
    assert headers["location"].endswith("/plain")


def test_what_failed_is_not_shown(replay):
    assert replay.get(f"{VISITED}id_/{SITE}failed")[0] == 404


def test_a_document_about_the_capture_can_be_read_at_its_urn(replay):
    if replay.name == "ours":
        pytest.skip("the index that is written beside the files has pages alone")
    assert replay.get(f"{VISITED}id_/urn:example:certificate")[2] == b"{}"


@pytest.mark.skipif(not (BIN / "cdxj-indexer").exists(), reason="cdxj-indexer is not in pywb's environment")
def test_our_index_is_that_of_the_reference_indexer(tmp_path):
    capture(tmp_path)
    theirs = subprocess.run(
        [BIN / "cdxj-indexer", "--sort", *tmp_path.glob("*.warc.gz")],
        capture_output=True, text=True, check=True, env=environment(), timeout=280,
    ).stdout  # fmt: skip
    (ours,) = tmp_path.glob("*.cdxj")
    assert ours.read_text().splitlines() == [line for line in theirs.splitlines() if not line.startswith("urn:")]
