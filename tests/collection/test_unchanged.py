"""Captures into a collection ask only for what has changed since the last one, and show as much as before."""

from __future__ import annotations

import json
import os
import random
import signal
import threading
import time
from contextlib import contextmanager
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple

import pytest
from warcio.archiveiterator import ArchiveIterator

from sharc_crawler.archive.former_answers import FormerAnswers
from sharc_crawler.certificate.verify import verify
from sharc_crawler.changes.masks import Mask, load_masks, taken_over
from sharc_crawler.collection.distrust import distrust
from sharc_crawler.collection.folder import Collection, is_over
from sharc_crawler.collection.keeper import damaged_since
from sharc_crawler.collection.taken_masks import take_masks
from sharc_crawler.collection.terms import FILE
from sharc_crawler.demo import LivingSite, serve
from sharc_crawler.errors import UsageError
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.opening import Parts
from sharc_crawler.live.former.rebuilding import rebuild
from sharc_crawler.live.former.validators import FormerCaptures
from sharc_crawler.live.reading.document import detector_of
from sharc_crawler.live.setup.unfinished import check_rebuilding
from sharc_crawler.model import Fetch, Kind, Outcome, Plan, Result, Slot
from sharc_crawler.report.mask_candidates import read_taught
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.beside import load_state
from tests.live import warm
from tests.live.conftest import captures_of, static  # noqa: F401

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from sharc_crawler.state.rows import Batch

PAGES = 60  # of which some twenty are asked in full by lot, in one capture or another
DAY = 86_400


def into(base: Path, url: str, **arguments: str) -> None:
    """A capture, to its end."""
    given = {"collection": str(base / "kept"), "url": url, "delay": "0", "sitemap": "off", **arguments}
    done = warm.finished(warm.site_words(**given), base, timeout=280)
    assert done.returncode == 0, done.stderr


def page(folder: Path, number: int, *more: str, text: str = "") -> None:
    """One that links to the two below it, written a day ago."""
    below = [f"{one}.html" for one in (2 * number + 1, 2 * number + 2) if one < PAGES]
    links = "".join(f"<a href={name}>{name}</a>" for name in (*below, *more))
    path = folder / ("index.html" if number == 0 else f"{number}.html")
    path.write_text(f"<title>{number}</title>{links}<img src=dot.gif><p>{text or 'words ' * 400}")
    os.utime(path, (time.time() - DAY, time.time() - DAY))


def visited(folder: Path) -> int:
    """Pages so far, of a capture that is under way."""
    return len(load_state(folder).visits) if any(folder.glob("*.open")) else 0


class Kept(NamedTuple):
    url: str
    folders: list[Path]
    base: Path


@pytest.fixture(scope="module")
def kept(static, tmp_path_factory) -> Iterator[Kept]:  # noqa: F811
    """Three captures: of all, of one change, and one that is killed on its way."""
    base = tmp_path_factory.mktemp("unchanged")
    site = base / "site"
    site.mkdir()
    (site / "dot.gif").write_bytes(b"GIF89a" + bytes(5000))
    os.utime(site / "dot.gif", (time.time() - DAY, time.time() - DAY))
    for number in range(PAGES):
        page(site, number)
    with static(site) as url:
        into(base, url)
        page(site, 9, "new.html", text="other")
        (site / "new.html").write_text("<p>new")
        os.utime(site / "9.html", (time.time() - DAY / 2, time.time() - DAY / 2))
        (base / "kept" / "history.db").unlink()  # pages are found by links alone
        into(base, url)
        arguments = {"collection": str(base / "kept"), "url": url, "delay": "0.1", "sitemap": "off"}
        running = warm.Scrapy(warm.site_words(**arguments), base)
        collection = Collection(base / "kept")
        while running.poll() is None:
            found = list(collection.captures())
            if len(found) == 3 and visited(found[2].folder) >= 5:
                break
            time.sleep(0.05)
        running.send_signal(signal.SIGKILL)
        running.wait(240)
        assert not is_over(found[2].folder)
        into(base, url)
        yield Kept(url, [one.folder for one in collection.captures()], base)


def test_what_has_not_changed_is_not_sent_again(kept):
    first, second, third = (sum(bodies(folder).values()) for folder in kept.folders)
    assert first > PAGES * 2000
    assert second < 0.4 * first, "one page of 60 changed; of each kind five are audited"
    assert third < 0.4 * first
    changed = {url for url, size in bodies(kept.folders[1]).items() if size}
    assert {f"{kept.url}9.html", f"{kept.url}new.html"} <= changed


def test_all_pages_are_found_by_the_links_of_former_answers(kept):
    sizes = [len(coherent(folder)) for folder in kept.folders]
    assert sizes == [PAGES, PAGES + 1, PAGES + 1]


@pytest.mark.slow
def test_certificates_hold_with_the_former_captures_and_without(kept):
    first, second, third = kept.folders
    for folder, former in ((second, [first]), (third, [first, second])):
        alone, together = verify(folder), verify(folder, former)
        assert alone.findings == together.findings == []
        assert alone.elsewhere >= PAGES - 6
        assert together.elsewhere == 0
    lost = verify(third, [second])
    assert len(lost.findings) == lost.elsewhere > 0
    assert {one.what.rpartition(", ")[2] for one in lost.findings} == {"which is in no capture at hand"}


def test_a_304_refers_to_the_answer_that_it_confirms(kept):
    first, second, third = kept.folders
    answers = {
        record.get_header("WARC-Record-ID"): record.get_header("WARC-Target-URI")
        for record in chain(heads(first, "response"), heads(second, "response"))
    }
    confirmed = [
        head
        for head in chain(heads(second, "revisit"), heads(third, "revisit"))
        if head.get_header("WARC-Profile").endswith("server-not-modified") and head.get_header("WARC-Payload-Digest")
    ]
    assert len(confirmed) > 2 * (PAGES - 6)
    for head in confirmed:
        assert answers[head.get_header("WARC-Refers-To")] == head.get_header("WARC-Target-URI")


@pytest.mark.slow
def test_a_forged_former_answer_is_found(kept, tmp_path):
    first, second, _ = kept.folders
    forged = tmp_path / "forged"
    forged.mkdir()
    for warc in second.glob("*.warc.gz"):
        (forged / warc.name).write_bytes(warc.read_bytes())
    findings = verify(second, [first, forged]).findings
    assert findings == [], "records that are there twice bear each other out"
    (warc, *_) = sorted(first.glob("*.warc.gz"))
    data = bytearray(warc.read_bytes())
    data[len(data) // 2] ^= 4
    (forged / warc.name).write_bytes(data)
    assert verify(second, [forged]).findings


def test_a_former_answer_that_is_gone_is_asked_for_in_full(kept):
    base, folders = kept.base, kept.folders
    held = {warc: warc.read_bytes() for warc in folders[0].glob("*.warc.gz")}
    for warc in held:
        warc.unlink()
    before = FormerAnswers(reversed(folders))
    still = {url for url, size in bodies(folders[1]).items() if not size}
    gone = still & {url for url, size in bodies(folders[2]).items() if not size}
    assert len(gone) > PAGES / 2
    assert not any(map(before.find, gone))
    assert before.find(f"{kept.url}9.html") is not None, "it lies in the second"
    for warc, data in held.items():
        damaged = bytearray(data)
        damaged[len(data) // 3 : len(data) // 3 * 2] = bytes(len(data) // 3)  # several answers
        warc.write_bytes(damaged)
    now = FormerAnswers(reversed(folders))
    lost = {url for url in gone if not now.find(url)}
    assert lost and {now.damaged(url) for url in lost} == {folders[0]}
    assert not any(map(now.damaged, gone - lost))
    into(base, kept.url, strategy="sharc-online")
    last = list(Collection(base / "kept").captures())[-1].folder
    assert lost <= {url for url, size in bodies(last).items() if size}, "what is damaged is stored again"
    assert len(pages_of(last)) == PAGES + 1
    (report,) = captures_of(last)
    assert f"is damaged, or lacks files: captures/{folders[0].parent.name}/{folders[0].name};" in str(report["notes"])
    assert damaged_since([folders[2], last]) and not damaged_since([last, last])
    assert verify(last).findings == []
    for warc, data in held.items():
        warc.write_bytes(data)
    assert len(FormerAnswers([folders[1]])) > 0
    texts = {index: index.read_text() for index in folders[1].glob("*.cdxj")}
    for index in texts:
        index.write_text("garbage")
    assert len(FormerAnswers([folders[1]])) == 0, "of a damaged index nothing is taken"
    for index, text in texts.items():
        index.write_text(text)


def test_state_is_not_made_again_of_what_lies_in_former_captures(kept, tmp_path):
    alone = tmp_path / "alone"
    alone.mkdir()
    for warc in kept.folders[1].glob("*.warc.gz"):
        (alone / warc.name).write_bytes(warc.read_bytes())
    specs = [row.spec for row in load_state(kept.folders[1]).captures.values()]
    with pytest.raises(UsageError, match="refers to answers in former captures of its collection"):
        check_rebuilding(alone, specs, {})
    check_rebuilding(alone, specs, {}, collected=True)


def test_state_is_made_again_with_what_lies_in_former_captures(kept, tmp_path):
    second, alone = kept.folders[1], tmp_path / "alone"
    alone.mkdir()
    for path in (*second.glob("*.warc.gz"), second / "crawl.jsonl"):
        (alone / path.name).write_bytes(path.read_bytes())
    before = load_state(second)
    (row,) = before.captures.values()
    former = FormerCaptures(Collection(kept.base / "kept"), second)
    parts = Parts(former=former.validators)
    made = rebuild(alone, [row.spec], Politeness(), parts, detector_of("content", ()), "now", former).state
    assert made.captures[0].reference == pytest.approx(row.reference, abs=1e-3)
    pages = {kind: found(before, kind) for kind in (Kind.PAGE, Kind.RESOURCE)}
    assert len(pages[Kind.PAGE]) > 2 * PAGES
    for kind, visits in pages.items():
        assert (found(made, kind) - visits, visits - found(made, kind)) == (set(), set())
    urls = {page.page: page.url for page in before.pages}
    judged = {urls[one.page]: one.verdict for one in before.judgements}
    again = {page.page: page.url for page in made.pages}
    assert {again[one.page]: one.verdict for one in made.judgements}.items() <= judged.items()


def found(state: Batch, kind: Kind) -> set[tuple]:
    """What visits brought."""
    urls = {page.page: page.url for page in state.pages if page.kind is kind}
    visits = [visit for visit in state.visits if visit.finished and visit.page in urls]
    return {(urls[one.page], one.slot == "second", one.outcome.digest, one.outcome.status) for one in visits}


def test_a_sample_is_asked_in_full_where_nothing_is_revisited_and_a_lie_ends_the_trust(kept, tmp_path):
    collection = Collection(kept.base / "kept")
    (name,) = collection.names()
    former = FormerCaptures(collection, collection.capture_folder(name, time.time()))
    url = f"{kept.url}3.html"
    single = CaptureSpec(name, (kept.url,), strategy="sharc-online", audit=1.0)
    twice = CaptureSpec(name, (kept.url,), strategy="sharc-selective", audit=1.0)
    known = former.validators(twice, url)
    assert known.last_modified
    assert not former.validators(single, url), "all are sampled"
    fetch = Fetch(1, 0, name, url, Kind.PAGE, Slot.ONLY, Plan.HOPEFUL, "h", 1, known, 0.0)
    answer = former.answer(fetch)
    true = Outcome(Result.OK, 0.0, 1.0, 200, digest=answer.original.digest, validators=known)
    assert former.check(fetch, true) is None
    former.validators(single, url)
    lie = former.check(fetch, Outcome(Result.OK, 0.0, 1.0, 200, digest="sha1:OTHER", validators=known))
    assert "the server's validators lie" in lie
    assert not former.validators(twice, url)
    assert not former.believed()
    distrust(tmp_path, name, 1, capture=1e9)
    later = FormerCaptures(Collection(tmp_path, collection.terms), tmp_path / "captures" / name / "now")
    assert "caught lying in the capture of 2001-09-09" in later.check(fetch, true), "its report says so"


class FreshTags(BaseHTTPRequestHandler):
    """Another ETag with each answer; 304 to whoever asks by one, whatever has become of the page."""

    protocol_version = "HTTP/1.1"
    edition = 0

    def log_message(self, *_):
        pass

    def do_GET(self):
        number = self.path.strip("/") or "0"
        known = number.isdigit() and int(number) < 12
        status = 304 if self.headers.get("If-None-Match") else 200 if known else 404
        links = "".join(f"<a href=/{one}>x</a>" for one in range(12))
        body = f"<title>{number}</title>{links}<p>edition {self.edition} of {number}".encode() if status == 200 else b""
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("ETag", f'"{random.getrandbits(64):x}"')
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def test_a_304_that_contradicts_itself_is_not_believed_and_the_page_is_asked_for_in_full(tmp_path):
    server = ThreadingHTTPServer(("127.0.0.1", 0), FreshTags)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        for FreshTags.edition in (1, 2):
            into(tmp_path, f"http://127.0.0.1:{server.server_port}/")
    finally:
        server.shutdown()
        server.server_close()
    first, second = Collection(tmp_path / "kept").captures()
    assert len(pages_of(first.folder)) == len(pages_of(second.folder)) == 13, "none is lost"
    assert len({url for url, size in bodies(second.folder).items() if size}) >= 13, "the second edition, of all of them"
    assert json.loads((tmp_path / "kept" / "distrusted.json").read_text())[first.site]["lies"] > 0
    assert verify(second.folder, [first.folder]).findings == []


@pytest.mark.long
def test_a_server_caught_lying_is_asked_in_full(tmp_path):
    site = LivingSite(seed=3, pages=25, scale=100_000.0, skew=0.5, slow=0.05, lying=1.0, no_validators=0.0)
    with serve(site) as server:
        into(tmp_path, server.url)
        known = json.loads((tmp_path / "kept" / "distrusted.json").read_text())
        into(tmp_path, server.url)
    first, second = Collection(tmp_path / "kept").captures()
    assert known[first.site]["lies"] > 0
    conditional = [one for one in visits(second.folder) if one["status"] == 304 and one["slot"] != "second"]
    assert conditional == []


class Timed(BaseHTTPRequestHandler):
    """Pages that never change, but say how long they took to make; 304 to whoever asks by Last-Modified."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        number = self.path.strip("/") or "0"
        status = 404 if not number.isdigit() else 304 if self.headers.get("If-Modified-Since") else 200
        links = "".join(f"<a href=/{one}>x</a>" for one in range(12))
        took = f"<p id=took>made in {random.randrange(10**6)} ms"
        body = f"<title>{number}</title>{links}<p>page {number}{took}".encode() if status == 200 else b""
        self.send_response(status)
        self.send_header("Content-Type", "text/html")
        self.send_header("Last-Modified", "Wed, 18 Nov 2020 11:06:41 GMT")
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def timed() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Timed)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/"
    finally:
        server.shutdown()
        server.server_close()


def test_masks_auto_takes_over_what_the_former_capture_learned_and_says_so(tmp_path):
    with timed() as url:
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept" / FILE).write_text(f"sites: [{{url: '{url}', masks: auto}}]\n")
        into(tmp_path, url)
        into(tmp_path, url)
    collection = Collection(tmp_path / "kept")
    first, later = collection.captures()
    masks = collection.masks(first.site)
    assert load_masks(masks) == read_taught(first.folder).masks != ()
    assert taken_over(masks) == {first.folder.name: 1}
    told = [one for one in visits(later.folder) if one["kind"] == "page" and one["slot"] != "second"]
    assert sum(one["status"] == 304 for one in told) >= 12
    (report,) = captures_of(later.folder)
    assert any(
        "made with 1 mask, 1 of them taken over from former captures by itself" in one for one in report["notes"]
    )
    settings = json.loads((later.folder / "certificate.json").read_text())["capture"]["settings"]
    assert (settings["masks_taken"], settings["masks_sha256"]) == (1, sha256(masks.read_bytes()).hexdigest())
    assert verify(later.folder, [first.folder]).findings == []
    assert take_masks(collection, first.site) == "", "nothing is learned twice"
    of_old, by_hand = ({"path": f"//*[@id='{name}']", "pattern": None} for name in ("edited", "mine"))
    for file, more in ((first.folder / "learned-masks.json", [of_old]), (masks, [of_old, by_hand])):  # by an old rule
        found = json.loads(file.read_text())
        found["masks"] += more
        if file == masks:
            del found["judged"]
        else:
            found["learned"]["masks"] += 1
        file.write_text(json.dumps(found))
    before = load_masks(masks)
    told = take_masks(collection, first.site)
    assert "1 mask of" in told
    assert "holds no longer: what was to be hidden differed on fewer than half of the pages that have it" in told
    assert load_masks(masks) == tuple(one for one in before if one != Mask(**of_old)), "by hand, and by good evidence"
    assert take_masks(collection, first.site) == "", "judged once"


@pytest.mark.long
def test_a_site_whose_pages_say_how_long_they_took_is_asked_by_validators_once_that_is_known_not_to_count(tmp_path):
    with timed() as url:
        into(tmp_path, url)
        collection = Collection(tmp_path / "kept")
        (first,) = collection.captures()
        masks = collection.folder / "masks" / f"{first.site}.json"
        masks.parent.mkdir()
        masks.write_text((first.folder / "learned-masks.json").read_text())
        into(tmp_path, url)
    _, later = collection.captures()
    told = [one for one in visits(later.folder) if one["kind"] == "page" and one["slot"] != "second"]
    assert sum(one["status"] == 304 for one in told) >= 12
    again = {one["url"] for one in visits(later.folder) if one["slot"] == "second" and one["status"] == 200}
    assert again, "the last four are, to learn masks by"
    claimed = {one["url"] for one in coherent(later.folder) if one["evidence"].endswith("validator")}
    assert claimed == set(), "the sample had other bytes; only by what the mask leaves it is the same"
    (report,) = captures_of(later.folder)
    assert report["audit"]["unshown"]["alike"] > 0 == report["audit"]["lies"]
    assert verify(later.folder, [first.folder]).findings == []


def bodies(folder: Path) -> dict[str, int]:
    """Bytes of payload that the server sent, by URL; robots.txt apart."""
    found: dict[str, int] = {}
    for visit in visits(folder):
        if visit["kind"] in ("page", "resource"):
            found[visit["url"]] = found.get(visit["url"], 0) + (visit["bytes"] or 0)
    return found


def visits(folder: Path) -> list[dict]:
    return [json.loads(line) for line in (folder / "crawl.jsonl").read_text().splitlines()]


def pages_of(folder: Path) -> list[dict]:
    (capture,) = captures_of(folder)
    return [one for one in capture["pages"] if one["kind"] == "page" and one["verdict"]]


def coherent(folder: Path) -> list[dict]:
    return [one for one in pages_of(folder) if one["verdict"] == "coherent"]


def heads(folder: Path, kind: str) -> list:
    found = []
    for warc in sorted(folder.glob("*.warc.gz")):
        with warc.open("rb") as stream:
            found += [record.rec_headers for record in ArchiveIterator(stream) if record.rec_type == kind]
    return found
