"""``sharc diff`` and ``sharc masks`` on saved pages and on captures."""

from __future__ import annotations

import gzip
import json
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from sharc_crawler.archive.options import Original, Resource, WarcOptions
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.masks import load_masks
from sharc_crawler.cli import main
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.model import Kind, Verdict
from sharc_crawler.model import Result as FetchResult
from sharc_crawler.state.rows import Batch, JudgementRow
from sharc_crawler.storage.sqlite import SqliteStore
from sharc_crawler.testing.stores import capture_row, page_row, visit_row
from tests.archive.readback import INFO, page

if TYPE_CHECKING:
    from pathlib import Path

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n"
URL = "http://example.org/castle"
FILLER = "<p>Words that make up a page, many of them, as pages have.</p>" * 8
PAGE = "<html><body>{filler}<p>The castle has {towers} towers.</p><div id=seen>Seen {seen} times</div></body></html>"


def html(towers: int, seen: int) -> bytes:
    return PAGE.format(filler=FILLER, towers=towers, seen=seen).encode()


def run(*arguments: object) -> Result:
    return CliRunner().invoke(main, [*map(str, arguments)])


def capture(folder: Path, *visits: tuple[str, float, bytes]) -> Path:
    """A folder with a WARC of these visits (URL, time, body), packed by a server that packs each time anew."""
    folder.mkdir()
    with WarcWriter(folder, "example.org", "run1", INFO, WarcOptions()) as out:
        for url, time, body in visits:
            packed = gzip.compress(body, mtime=int(time))
            out.write(replace(page(), url=url, started=time, ended=time + 0.1, response=HEAD % len(packed) + packed))
    return folder


@pytest.fixture
def two(tmp_path: Path) -> tuple[Path, Path]:
    monday = capture(tmp_path / "monday", (URL, 1e9, html(12, 7)), (URL, 1e9 + 5, html(12, 8)))
    friday = capture(tmp_path / "friday", (URL, 1.1e9, html(13, 900)), (URL, 1.1e9 + 9, html(13, 901)))
    return monday, friday


def test_what_changed_between_two_captures(two: tuple[Path, Path], tmp_path: Path) -> None:
    found = json.loads(run("diff", *two, URL, "--json").output)
    assert found["changed"]
    assert [time[:19] for time in found["times"]] == ["2001-09-09T01:46:40", "2004-11-09T11:33:29"], "first and last"
    assert {row["new"] for row in found["edits"]} == {"The castle has 13 towers.", "Seen 901 times"}
    done = run("diff", *two, URL, "--html", tmp_path / "diff.html")
    assert "What counts as content changed" in done.output
    assert f"{URL} as downloaded 2001-09-09T01:46:40Z, then 2004-11-09T11:33:29Z" in done.output
    assert "<mark>13</mark>" in (tmp_path / "diff.html").read_text()


def made_by_script(folder: Path, time: float, **data: tuple[int, str]) -> Path:
    """A shell that never changes, and the status and the JSON of what its scripts fetched."""
    folder.mkdir()
    urls = {name: f"http://example.org/api/{name}" for name in data}
    loaded = {url: {"status": data[name][0], "type": "fetch"} for name, url in urls.items()}
    info = json.dumps({"urls": {URL: {"status": 200, "type": "document"}, **loaded}}).encode()
    with WarcWriter(folder, "example.org", "run1", INFO, WarcOptions()) as out:
        out.write(page(html(12, 7), URL, time, b"Content-Type: text/html\r\n"))
        out.write_resource(Resource(f"urn:pageinfo:{URL}", time, "application/json", info))
        for name, (status, body) in data.items():
            response = b"HTTP/1.1 %d X\r\nContent-Type: application/json\r\n\r\n%b" % (status, body.encode())
            out.write(replace(page(url=urls[name], started=time + 1), response=response))
    return folder


def test_a_shell_that_never_changes_is_compared_by_what_its_scripts_fetched(tmp_path: Path) -> None:
    old = made_by_script(tmp_path / "old", 1e9, a=(200, '{"n": [1, 2]}'), b=(200, "[1]"), c=(200, "1"), d=(200, "1"))
    new = made_by_script(tmp_path / "new", 1.1e9, a=(200, '{"n": [1, 3]}'), b=(404, "[1]"), c=(200, "1"), e=(200, "1"))
    found = json.loads(run("diff", old, new, URL, "--json").output)
    assert (found["equal_bytes"], found["changed"], found["edits"]) == (True, True, [])
    told = {one["url"].rpartition("/")[2]: (one["verdict"], one["changed"]) for one in found["data"]}
    assert told == {
        "a": ("What counts as content changed", True),
        "b": ("Answered with status 200, then 404", True),
        "c": ("The same bytes", False),
        "d": ("Asked for before only", False),
        "e": ("Asked for later only", False),
    }
    assert [(row["old"], row["new"]) for row in found["data"][0]["edits"]] == [("  2", "  3")]
    done = run("diff", old, new, URL, "--html", tmp_path / "diff.html")
    assert "The same bytes; what its scripts fetched changed" in done.output
    shown = (tmp_path / "diff.html").read_text()
    assert "Fetched by its scripts: http://example.org/api/a" in shown
    assert "<mark>3</mark>" in shown
    alone = run("diff", old, old, URL).output
    assert "The same bytes; what its scripts fetched is the same" in alone


def test_a_folder_around_captures_is_none_and_they_are_named(tmp_path: Path) -> None:
    inner = made_by_script(tmp_path / "one", 1e9, a=(200, "1"))
    told = run("diff", tmp_path, inner, URL)
    assert (told.exit_code, f"{tmp_path} holds 1 capture: name one of them: {inner}\n" in told.output) == (2, True)


def stored(folder: Path, data: dict[str, tuple[str | None, int]]) -> Path:
    """A complete capture's state: three shells that never change, and the digest and status of what each fetched."""
    folder.mkdir()
    asked = list(data)
    rows = [page_row(number) for number in range(3)]
    rows += [page_row(number, kind=Kind.DATA, key=key, url=key) for number, key in enumerate(asked, 3)]
    visits = [visit_row(number) for number in range(3)]
    for number, (digest, status) in enumerate(data.values(), 3):
        visit = visit_row(number)
        result = FetchResult.OK if digest else FetchResult.FAILED
        outcome = visit.outcome._replace(result=result, status=status, digest=digest, fingerprint=digest)
        visits.append(visit._replace(outcome=outcome))
    embeds = [(int(key[-1]), number) for number, key in enumerate(asked, 3)]
    kept = [visit.page for visit in visits if visit.outcome.result is FetchResult.OK]
    judged = [JudgementRow(page, Verdict.COHERENT, Evidence.BYTES, Reason.EQUAL_BYTES) for page in kept]
    with closing(SqliteStore(folder)) as store:
        capture = capture_row(reference=20.0, ended=40.0)
        store.commit(Batch(rows, visits, judgements=judged, captures={0: capture}, embeds=embeds))
    return folder


@pytest.mark.parametrize(
    ("later", "shown"),
    [
        ({"/a?p=0": ("d1", 200), "/a?p=1": ("d1", 200)}, "0 changed, 0 new, 0 gone, 3 the same"),
        ({"/a?p=0": ("d2", 200), "/a?p=1": ("d1", 200)}, "1 changed, 0 new, 0 gone, 2 the same"),
        ({"/a?p=0": (None, 404), "/a?p=1": ("d1", 200)}, "1 changed, 0 new, 0 gone, 2 the same"),
        (
            {"/b?p=0": ("d1", 200), "/a?p=1": ("d1", 200)},
            "0 changed, 0 new, 0 gone, 1 not known (other masks, or scripts asked for other data), 2 the same",
        ),
    ],
)
def test_pages_whose_data_changed_are_listed_as_changed(tmp_path: Path, later: dict, shown: str) -> None:
    old = stored(tmp_path / "old", {"/a?p=0": ("d1", 200), "/a?p=1": ("d1", 200)})
    new = stored(tmp_path / "new", later)
    told = run("diff", old, new).stdout.splitlines()
    assert told[0] == f"Pages: {shown}"
    assert (f"changed (its data): {page_row(0).url}" in told) == ("1 changed" in shown)
    found = json.loads(run("diff", old, new, "--json").stdout)
    assert found["by_data"] == found["changed"]


def test_pages_that_are_the_same_by_the_servers_word_are_told(tmp_path: Path) -> None:
    old, new = stored(tmp_path / "old", {}), stored(tmp_path / "new", {})
    with closing(SqliteStore(new)) as store:
        visit = visit_row(1)
        store.commit(Batch(visits=[visit._replace(outcome=visit.outcome._replace(status=304))]))
    assert (
        run("diff", old, new)
        .stdout.splitlines()[0]
        .endswith("3 the same, 1 of these by the server's word (304, or its lastmod): not downloaded anew")
    )
    assert json.loads(run("diff", old, new, "--json").stdout)["stated"] == [page_row(1).url]


def test_data_whose_address_changes_with_each_load_is_compared_where_one_alone_is_like_it(tmp_path: Path) -> None:
    before = {"news?_=1764166000123": "[1]", "b/7Hf93kQz02/c?p=1": "[1]", "n?s=17641660001": "1", "item/7": "1"}
    later = {"news?_=1764169999123": "[2]", "b/9aB27xLm41/c?p=1": "[1]", "n?s=17641669991": "1", "item/8": "1"}
    later["n?s=17641669992"] = "2"
    old, new = (
        made_by_script(tmp_path / name, time, **{url: (200, body) for url, body in data.items()})
        for name, time, data in (("old", 1e9, before), ("new", 1.1e9, later))
    )
    found = json.loads(run("diff", old, new, URL, "--json").output)
    told = {one["url"].partition("/api/")[2]: (one["verdict"], one["changed"]) for one in found["data"]}
    alone = "not compared: more than one address is like it"
    assert told == {
        "news?_=1764169999123": ("What counts as content changed", True),
        "b/9aB27xLm41/c?p=1": ("The same bytes", False),
        "n?s=17641660001": (f"Asked for before only; {alone}", False),
        "n?s=17641669991": (f"Asked for later only; {alone}", False),
        "n?s=17641669992": (f"Asked for later only; {alone}", False),
        "item/7": ("Asked for before only", False),
        "item/8": ("Asked for later only", False),
    }
    assert found["changed"]
    assert found["data"][0]["before"].endswith("news?_=1764166000123")
    assert "(before: http://example.org/api/news?_=1764166000123)" in " ".join(
        run("diff", old, new, URL, "--html", tmp_path / "diff.html").output.split()
    )
    shown = (tmp_path / "diff.html").read_text()
    assert "Its document: the same bytes." in shown
    assert ", before: http://example.org/api/news?_=1764166000123" in shown


def test_a_learned_mask_is_ignored(two: tuple[Path, Path], tmp_path: Path) -> None:
    for name, seen in (("one", 1), ("two", 2)):
        (tmp_path / f"{name}.html").write_bytes(html(12, seen))
    masks = tmp_path / "masks.json"
    assert "1 learned" in run("masks", tmp_path / "one.html", tmp_path / "two.html", "-o", masks).output
    found = json.loads(run("diff", *two, URL, "--masks", masks, "--json").output)
    assert [row["new"] for row in found["edits"]] == ["The castle has 13 towers."]
    assert [row["new"] for row in found["ignored"]] == ["Seen 901 times"]
    same = run("diff", two[0], two[0], URL, "--masks", masks)
    assert "what counts as content is the same" in same.output


def test_masks_of_a_capture_need_two_pages(tmp_path: Path) -> None:
    other = "http://example.org/moat"
    visits = [
        (URL, 1e9, html(12, 7)),
        (other, 1e9 + 1, html(3, 9)),
        (other, 1e9 + 2, html(3, 10)),
        (URL, 1e9 + 5, html(12, 8)),
    ]
    folder = capture(tmp_path / "monday", *visits)
    assert "1 learned" in run("masks", folder, "-o", tmp_path / "masks.json").output
    assert [mask.path for mask in load_masks(tmp_path / "masks.json")] == ["//*[@id='seen']"]
    assert "0 learned" in run("masks", folder, "--add", tmp_path / "masks.json").output
    assert "0 learned" in run("masks", folder, "--within", 0.5).output


@pytest.mark.parametrize(("titles", "learned"), [(("Keep", "Moat"), "1 learned"), (("Keep", "Keep"), "0 learned")])
def test_pages_that_differ_in_their_query_are_told_by_their_titles(
    titles: tuple[str, str], learned: str, tmp_path: Path
) -> None:
    visits = [
        (f"http://example.org/?p={n}", 1e9 + n + later, f"<title>{title}</title>".encode() + html(12, 7 * n + later))
        for n, title in enumerate(titles)
        for later in (0, 2)
    ]
    assert learned in run("masks", capture(tmp_path / "monday", *visits)).output


def test_the_same_bytes(two: tuple[Path, Path], tmp_path: Path) -> None:
    saved = tmp_path / "saved.html"
    saved.write_bytes(html(12, 7))
    assert json.loads(run("diff", saved, saved, "--json").output) == {
        "equal_bytes": True,
        "changed": False,
        "edits": [],
        "ignored": [],
    }
    assert "The same bytes" in run("diff", saved, saved).output


def test_payloads_are_found_where_they_are_stored(tmp_path: Path) -> None:
    """``dedup``: another URL of the capture brought them, OLD has them, or a former capture that must be named."""
    head, body = HEAD.replace(b"Content-Encoding: gzip\r\n", b""), html(12, 7)
    twin, response = "http://example.org/twin", head % len(body) + body

    def write(folder: Path, *urls: str, known: Original | None = None) -> Path:
        folder.mkdir()
        with WarcWriter(folder, "example.org", "run1", INFO, WarcOptions(dedup="site"), former=lambda *_: known) as out:
            for url in urls:
                out.write(replace(page(), url=url, response=response))
        return folder

    monday = write(tmp_path / "monday", URL, twin)
    assert "The same bytes" in run("diff", monday, monday, twin).output
    known = Original(URL, 50.0, labelled_digest(body), "<urn:uuid:1>")
    friday = write(tmp_path / "friday", URL, known=known)
    assert "The same bytes" in run("diff", monday, friday, URL).output
    assert "The same bytes" in run("diff", friday, friday, URL, "--former", monday).output
    lost = run("diff", friday, friday, URL)
    assert (lost.exit_code, "name it, --former DIR" in lost.output) == (3, True)


def test_a_repeated_request_is_compared_under_its_url(two: tuple[Path, Path]) -> None:
    done = run("diff", *two, f"{URL} (request 2)")
    assert f"all requests for {URL} lie under that URL" in done.stderr
    assert done.stdout == run("diff", *two, URL).stdout


def test_what_cannot_be_compared_is_named(two: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    for arguments, code, words in (
        ((*two,), 2, f"say which page of it, as in `sharc diff {two[0]} {two[1]} URL`"),
        ((*two, "http://example.org/none"), 3, "holds no page 'http://example.org/none'"),
        ((*two, "/" + URL.rpartition("/")[2]), 3, f"with status 200; give its whole URL, as {URL}"),
        ((*two, f"{URL}l"), 3, f"holds no page '{URL}l' with status 200; did you mean '{URL}'?"),
        ((tmp_path / "empty", two[1], URL), 2, "holds no capture"),
    ):
        done = run("diff", *arguments)
        assert (done.exit_code, words in done.output) == (code, True), done.output
    assert run("masks", two[0], two[1]).exit_code == 2
    (tmp_path / "bad.wacz").write_bytes(b"no zip")
    assert run("diff", tmp_path / "bad.wacz", two[1], URL).exit_code == 3


def test_what_is_no_text_is_told_in_a_line(tmp_path: Path) -> None:
    png, other = (b"\x89PNG\r\n\x1a\n\0" + b"\n".join(bytes([n % 256, 7]) for n in range(9_000 + k)) for k in range(2))
    one, two = tmp_path / "shot.png", tmp_path / "garbage"
    one.write_bytes(png)
    two.write_bytes(other)
    for command in (("diff", one, two), ("masks", one, two)):
        refused = run(*command)
        assert refused.exit_code == 3
        assert f"{one} is neither a capture" in refused.output
        assert len(refused.output) < 400
    captured = capture(tmp_path / "monday", (URL, 1e9, png), (URL, 1e9 + 5, other))
    (edit,) = json.loads(run("diff", captured, captured, URL, "--json").output)["edits"]
    assert edit["old"].startswith(f"{len(png):,} bytes, no text: sha1:")


def test_what_takes_long_is_said(two: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy.__wrapped__, "__defaults__", (True, None, 0.0))  # type: ignore[attr-defined]
    assert run("diff", *two, URL).stderr.startswith("reading what was captured … 0 s")
