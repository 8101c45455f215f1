from __future__ import annotations

import json
import shutil
from functools import partial

import pytest

from sharc_crawler.archive.cdxj import REVISIT, IndexEntry, write_index
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.report.banner import VERDICTS, dress, shelf

VISIT = {"date": "2026-11-18T11:06:40.5Z", "uri": "http://a.org/é", "result": "ok", "digest": "A"}
PAGE = {"url": "http://a.org/é", "verdict": "coherent", "evidence": "bytes", "reason": "equal-bytes", "subsite": "a"}
LOST = {"url": "http://a.org/x", "reason": "gone", "visit": {**VISIT, "uri": "http://a.org/x"}, "subsite": "a"}
CLAIM = {"statement": "once", "captured": 1, "grounds": [], "limits": []}


@pytest.fixture
def capture(tmp_path):
    folder = tmp_path / "capture"
    folder.mkdir()
    document = {
        "capture": {"site": "a.org", "claim": CLAIM},
        "subsites": [{"name": "a", "reference": {"instant": "2026-11-18T11:10:00Z"}}],
        "pages": {"name": "certificate-pages.jsonl"},
        "digest": "sha256:1",
    }
    (folder / "certificate.json").write_text(json.dumps(document))
    entries = [{**PAGE, "visit": VISIT, "revisit": {**VISIT, "date": "2026-11-18T12:06:40.5Z"}}, LOST]
    (folder / "certificate-pages.jsonl").write_text("".join(f"{json.dumps(entry)}\n" for entry in entries))
    return folder


def said(place, url):
    lines = (place / "static" / VERDICTS / f"{shelf(url)}.jsonl").read_text().splitlines()
    return [row for row in map(json.loads, lines) if row[0] == url]


def test_each_copy_is_told_of_at_its_second(capture, tmp_path):
    dress([capture], pytest.fail, tmp_path)
    assert said(tmp_path, "http://a.org/é") == [
        ["http://a.org/é", "20261118110640", "visit", "coherent", "shown by equal bytes before and after", "a", 0],
        ["http://a.org/é", "20261118120640", "revisit", "coherent", "shown by equal bytes before and after", "a", 0],
    ]
    assert said(tmp_path, "http://a.org/x")[0][3:5] == [None, "not there"]
    (known,) = json.loads((tmp_path / "static" / VERDICTS / "captures.json").read_text())
    assert known["instants"] == {"a": "2026-11-18T11:10:00Z"}
    assert known["digest"] == "sha256:1"
    assert "single visits" in known["claim"]


@pytest.mark.parametrize(
    ("url", "second", "known"),
    [
        ("é", "20261118114000", True),
        ("é", "20261118110000", False),
        ("é", "20261118130000", False),
        ("x", "20261118113000", False),
    ],
    ids=["between", "before", "after", "of another page"],
)
def test_a_304_that_was_tested_by_a_download_is_told_of_as_its_page(capture, tmp_path, url, second, known):
    """Its record is nearer to T, so that replay tools show it: the payload of the visit."""
    later = f"{int(second) + 100}"
    own = partial(IndexEntry, f"http://a.org/{url}", offset=1, length=1, file="a.warc.gz")
    of_304 = own(second, mime=REVISIT, status=None, digest=None)
    tests = own(later, mime=REVISIT, status="200", digest="A")
    write_index(capture / "a.warc.gz", [of_304, tests])
    dress([capture], pytest.fail, tmp_path)
    found = [row[2:5] for row in said(tmp_path, f"http://a.org/{url}") if row[1] == second]
    assert found == ([["304", "coherent", "shown by equal bytes before and after"]] if known else [])
    assert not [row for row in said(tmp_path, f"http://a.org/{url}") if row[1] == later], (
        "another's, as far as is known"
    )


def test_a_copy_that_a_later_capture_took_is_told_of_by_both(capture, tmp_path):
    """By its own capture as its download, by the later one as what it did not ask for."""
    later = tmp_path / "later"
    shutil.copytree(capture, later)
    entry = {
        **PAGE,
        "evidence": "former",
        "reason": "lastmod-before-visit",
        "visit": {**VISIT, "attempts": 0, "server": {}},
        "revisit": None,
    }
    (later / "certificate-pages.jsonl").write_text(f"{json.dumps(entry)}\n")
    dress([capture, later], pytest.fail, tmp_path)
    of_first, of_later = [row for row in said(tmp_path, PAGE["url"]) if row[1] == "20261118110640"]
    assert (of_first[2], of_first[6]) == ("visit", 0)
    assert of_later[2:] == ["former", "coherent", Evidence.FORMER.ground, "a", 1]


def test_a_confirmation_counts_where_it_is_of_this_certificate(capture, tmp_path):
    """What it calls changed is not shown as coherent any more."""
    lost = {"url": PAGE["url"], "verdict": "changed", "evidence": "attested", "reason": "lastmod-between"}
    (capture / "confirmation").mkdir()
    for number, (digest, verdict) in enumerate({"sha256:1": "changed", "sha256:2": "coherent"}.items()):
        confirmation = {"certificate": digest, "capture": {"claim": CLAIM}, "pages": [lost]}
        (capture / "confirmation" / "confirmation.json").write_text(json.dumps(confirmation))
        (place := tmp_path / str(number)).mkdir()
        dress([capture], pytest.fail, place)
        assert {row[3] for row in said(place, PAGE["url"])} == {verdict}


@pytest.mark.parametrize(
    ("reported", "verdict"),
    [
        ({"site": "a.org", "verdict": "changed", "content": "kept"}, "kept"),
        ({"site": "a.org", "verdict": "changed", "content": "changed", "reason": '"content": "kept"'}, "changed"),
        ({"site": "b.org", "verdict": "changed", "content": "kept"}, "changed"),
        (None, "changed"),
    ],
    ids=["kept", "edited", "another site's", "a report that cannot be read"],
)
def test_a_page_that_changed_and_kept_its_content_is_told_so(capture, tmp_path, reported, verdict):
    entry = {**PAGE, "verdict": "changed", "reason": "other-bytes", "visit": VISIT}
    (capture / "certificate-pages.jsonl").write_text(f"{json.dumps(entry)}\n")
    line = json.dumps({"url": PAGE["url"], **reported}) if reported else '{"content": "kept", "verdict": "changed", '
    (capture / "report-pages.jsonl").write_text(f"{line}\n")
    dress([capture], pytest.fail, tmp_path)
    assert [row[3:5] for row in said(tmp_path, PAGE["url"])] == [[verdict, "different bytes before and after"]]


@pytest.mark.parametrize(("name", "content"), [("certificate.json", "{}"), ("certificate-pages.jsonl", None)])
def test_a_certificate_that_cannot_be_read_is_named_and_speaks_of_nothing(capture, tmp_path, name, content):
    if content is None:
        (capture / name).unlink()
    else:
        (capture / name).write_text(content)
    told = []
    dress([capture], told.append, tmp_path)
    (problem,) = told
    assert f"{capture / 'certificate.json'} cannot be read" in problem
    assert json.loads((tmp_path / "static" / VERDICTS / "captures.json").read_text()) == [None]
