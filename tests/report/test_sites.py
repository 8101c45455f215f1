"""The index of a crawl of several sites."""

from __future__ import annotations

import json

from sharc_crawler.report.claim import UNBORNE
from sharc_crawler.report.sites import MOVED, UNREPORTED, index, not_of_index, write_index
from sharc_crawler.storage.folders import SITES
from sharc_crawler.storage.gathered import folders_text

NAMES = {"a.example": "a.example", "b.example": "b.example", "moved.example": "moved", "new.example": "new"}


def report(ended, coherent, same_content=0):
    counts = {"coherent": coherent, "changed": 1, "unknown": 0, "captured": coherent + 1}
    counts |= {"same_content": same_content, "by_masks": 0}
    capture = {"claim": {"statement": f"{coherent} <pages>"}, "times": {"ended": ended}, "coherence": counts}
    return json.dumps({"captures": [{**capture, "notes": [str(number) for number in range(9)]}]})


def made(folder):
    (folder / SITES).write_text(folders_text(NAMES))
    for name in ("a.example", "b.example", "new"):
        (folder / name).mkdir()
    (folder / "a.example" / "report.json").write_text(report("2026-11-22T00:00:00Z", 3))
    (folder / "b.example" / "report.json").write_text(report(None, 1))
    return folder


def test_each_site_is_told_with_its_claim_and_its_report(tmp_path):
    found = index(made(tmp_path))
    assert found["complete"] == 1
    told = {site["site"]: (site["claim"], site["complete"], site["report"]) for site in found["sites"]}
    assert told == {
        "a.example": ("3 <pages>", True, "a.example/report.html"),
        "b.example": ("1 <pages>", False, "b.example/report.html"),
        "moved.example": (MOVED, False, None),
        "new.example": (UNREPORTED, False, None),
    }
    assert [len(site["notes"]) for site in found["sites"]] == [3, 3, 0, 0]


def test_what_kept_its_content_is_told_with_the_claim_as_of_one_site(tmp_path):
    folder = made(tmp_path)
    (folder / "a.example" / "report.json").write_text(report("2026-11-22T00:00:00Z", 0, same_content=1))
    told = "0 <pages>; 1 of 1 page kept its content (0 coherent)"
    assert index(folder)["sites"][0]["claim"] == told
    assert told in write_index(folder)


def test_sites_of_which_no_page_was_captured_are_counted(tmp_path):
    folder = made(tmp_path)
    (folder / "b.example" / "report.json").write_text(report("2026-11-22T00:00:00Z", -1))
    assert "4 sites, 2 complete, 1 without a page" in write_index(folder)


def test_sites_that_need_a_person_are_named_first_with_their_folders(tmp_path):
    (tmp_path / SITES).write_text(folders_text({f"{number:02}.example": f"f{number:02}" for number in range(15)}))
    for number in range(15):
        (folder := tmp_path / f"f{number:02}").mkdir()
        told = report(None if number == 12 else "2026-11-22T00:00:00Z", -1 if number == 13 else 3)
        told = told.replace("3 <pages>", f"9 pages were captured, but {UNBORNE}") if number == 14 else told
        (folder / "report.json").write_text(told)
    text = write_index(tmp_path)
    assert "15 sites, 14 complete, 1 refuted, 1 without a page\n" in text
    named = [word for line in text.splitlines() for word in line.split() if word.endswith(".example")]
    assert named == [f"{number:02}.example" for number in (14, 12, 13, *range(7))]
    folders = [line.strip() for line in text.splitlines() if line.strip().startswith(f"{tmp_path}/f")]
    assert folders == [f"{tmp_path}/f{number}" for number in (14, 12, 13)]


def test_a_site_that_leads_elsewhere_or_has_no_page_is_named_at_the_top_of_both(tmp_path):
    (tmp_path / SITES).write_text(folders_text({name: name for name in ("a.example", "b.example", "c.example")}))
    led = "the seed http://b.example/ redirects to http://z.example/login: the capture follows it there"
    for name, coherent, note in (
        ("a.example", 3, "nothing odd here"),
        ("b.example", 2, led),
        ("c.example", -1, "no answer"),
    ):
        (tmp_path / name).mkdir()
        told = report("2026-11-22T00:00:00Z", coherent).replace('"0"', json.dumps(note))
        (tmp_path / name / "report.json").write_text(told)
    heading = "3 sites, 3 complete, 1 without a page, 1 redirected elsewhere"
    text = write_index(tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert f"{heading}\n" in text
    assert f"<h1>{heading}</h1>" in page
    for told in (text, page):
        order = [told.index(words) for words in ("c.example", "no answer", "b.example", led, "a.example")]
        assert order == sorted(order)
        assert "nothing odd here" not in told

    assert not [*not_of_index(tmp_path)]


def test_both_files_are_written_and_what_goes_on_is_said(tmp_path):
    text = write_index(made(tmp_path), "by Ctrl-C or SIGTERM")
    assert "4 sites, 1 complete" in text
    assert "Stopped by Ctrl-C or SIGTERM, not complete: the same command resumes it" in text
    assert json.loads((tmp_path / "index.json").read_text()) == index(tmp_path)
    page = (tmp_path / "index.html").read_text()
    assert 'href="a.example/report.html"' in page
    assert "3 &lt;pages&gt;" in page
    assert 'href="index.json"' in page
