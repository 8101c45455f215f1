"""What a report tells its reader beside the figures: bytes and content apart, expectations missed, pages all alike."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.certificate.document import certificate
from sharc_crawler.evidence.facts import Outside
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import HowMade, Result, Slot, Verdict
from sharc_crawler.rates.swings import KNOTS, Swings
from sharc_crawler.report.document import capture_entry, document
from sharc_crawler.report.entries import page_entries
from sharc_crawler.report.html import NAME, render, tiles
from sharc_crawler.report.marks import DETECTOR_FAILED
from sharc_crawler.report.notes import noted
from sharc_crawler.report.packaging import pages
from sharc_crawler.report.terminal import summary
from sharc_crawler.report.write import write
from tests.report.by_hand import T, classes_of, facts, judged, page, rendered, visit

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.evidence.facts import CaptureFacts, PageFacts


LOCKED = Reason.REFUSED.of("status 401")


def looked(name: str, verdict: Verdict, before: str | None, after: str | None, **fields: object) -> PageFacts:
    first = replace(visit(T - 10), fingerprint=before, digest=f"sha1:{name}")
    second = replace(visit(T + 10, Slot.SECOND), fingerprint=after, digest=f"sha1:{name}'")
    return replace(
        judged(f"http://h/{name}", verdict, visit=first, revisit=second), **{"rate_source": "history"} | fields
    )


def blog(noise: int = 66, **fields: object) -> CaptureFacts:
    """30 pages coherent, some with a new nonce, the others up to 169 edited."""
    return facts(
        *(looked(f"kept{i}", Verdict.COHERENT, "f", "f") for i in range(30)),
        *(looked(f"nonce{i}", Verdict.CHANGED, "f", "f") for i in range(noise)),
        *(looked(f"edited{i}", Verdict.CHANGED, "f", "g") for i in range(139 - noise)),
        **fields,
    )


@pytest.mark.slow
def test_bytes_and_content_are_counted_apart(tmp_path: Path) -> None:
    found = capture_entry(blog())
    totals = found["coherence"]
    assert (totals["coherent"], totals["changed"], totals["same_content"]) == (30, 139, 66)
    assert totals["expected"] | {"deviation": 0.0} == {
        "pages": 169, "coherent": 169.0, "deviation": 0.0, "low": 169, "high": 169, "counted": 30, "same_content": 96,
        "guessed": 0,
    }  # fmt: skip
    assert sum(c.counted for c in classes_of(blog())) == 96
    text = summary([blog()], write([blog()], tmp_path))
    words = "96 of 169 pages kept their content (30 coherent)"
    assert words in text
    kept = "96 of 169 pages judged kept their content, 30 their bytes, too"
    assert f"169 if the change rates hold; {kept}" in text
    assert any("66 pages differ only in what is ignored" in note for note in found["notes"])
    html = rendered(blog())[NAME]
    assert words in html
    assert "66 of these kept their content" in html
    assert "30 of 169 pages; 66 more had the same content" in html


@pytest.mark.slow
def test_nothing_is_said_of_content_where_every_change_was_one(tmp_path: Path) -> None:
    text = summary([blog(noise=0)], write([blog(noise=0)], tmp_path))
    assert "kept their content" not in text
    assert "169 if the change rates hold; 30 of 169 pages judged were coherent" in text


@pytest.mark.parametrize(
    "page",
    [
        looked("unknown", Verdict.UNKNOWN, "f", "f"),
        looked("lastmod", Verdict.CHANGED, "f", "f", evidence=Evidence.ATTESTED),
        looked("dark", Verdict.CHANGED, "f", None),
        replace(
            looked("gone", Verdict.CHANGED, "f", "f"),
            revisit=replace(visit(T + 10, Slot.SECOND, Result.GONE), fingerprint="f"),
        ),
    ],
    ids=lambda page: page.url,
)
def test_what_is_no_mere_noise(page: PageFacts) -> None:
    assert capture_entry(facts(page))["coherence"]["same_content"] == 0


def test_the_certificate_speaks_of_bytes_alone() -> None:
    ours = certificate(blog())["capture"]
    assert ours["claim"] == certificate(blog(noise=0))["capture"]["claim"]
    assert "same_content" not in ours["totals"]
    assert {"code": "changed", "pages": 139} in ours["claim"]["limits"]


def test_an_expectation_that_was_missed_by_far_is_said() -> None:
    (_, note) = noted(blog())
    assert note.startswith("169 pages were expected to keep their content and 96 did: the pages change more often")
    assert "history (169). Captures with history=FILE use what earlier ones saw;" in note
    (_, note) = noted(blog(settings={"history": "a.sqlite"}))
    assert "What this capture saw is now in a.sqlite, and" in note
    assert "FILE" not in note
    hot = [looked(f"{i}", Verdict.COHERENT, "f", "f", rate=1.0, rate_source="sitemap") for i in range(40)]
    assert "less often than the rates say, which came from sitemap (40)" in noted(facts(*hot))[0]


def test_a_rebuild_that_lastmods_made_likely_is_no_surprise() -> None:
    often = Swings((0.1,) * len(KNOTS), rebuilds=1.0, touched=0.6)
    assert len(noted(blog())) == 2
    assert len(noted(blog(swings=often))) == 1, "96 of 169 lie between low and high"


@pytest.mark.slow
def test_rates_that_nobody_told_are_called_a_guess(tmp_path: Path) -> None:
    guessed = facts(*(replace(page, rate_source="prior") for page in blog(noise=0).pages))
    text = summary([guessed], write([guessed], tmp_path))
    for figure in ("expected     ", "blur         "):
        assert f"{figure}no figure: nothing was known beforehand about how often 169 of 169 pages change" in text
    (note,) = noted(guessed)
    assert note.startswith(
        "Nothing was known beforehand about how often 169 of 169 pages change. Captures with history=FILE"
    )
    labels = {tile.label for tile in tiles(capture_entry(guessed))}
    assert labels >= {"Coherent", "Archived"}
    assert not labels & {"Expected coherent", "Expected to keep content", "Average blur"}
    page = rendered(guessed)[NAME]
    assert "80 %:" not in page
    assert "169.0" not in page
    assert "and what was expected" not in page
    assert "Expected to keep their content" not in page
    assert page.count('class="nowrap" data-sort="-1">–<') == page.count('data-name="chance"') > 0
    assert "Expected coherence and average blur are not shown here:" in page
    assert "nothing was known beforehand about how often 169 of 169 pages change, so they would be a guess." in page
    assert "not shown here" not in rendered(blog(noise=0))[NAME]


def test_pages_that_want_a_password_have_a_way_out() -> None:
    locked = [page(f"http://h/{n}", visit=visit(T, result=Result.REFUSED), reason=LOCKED) for n in range(3)]
    (note,) = [note for note in noted(facts(*locked)) if "401" in note]
    assert note.startswith("3 pages want a user and a password (status 401): netrc=FILE gives both")
    (note,) = [note for note in noted(facts(*locked[:1], settings={"session": "reader"})) if "401" in note]
    assert note.startswith("1 page wants a user and a password (status 401): its session was not taken")
    few = facts(*locked[:1], *(judged(f"http://h/a{n}", Verdict.COHERENT) for n in range(30)))
    assert not any("401" in note for note in noted(few))


def test_of_pages_visited_once_blur_at_guessed_rates_is_a_guess(tmp_path: Path) -> None:
    guessed = facts(*(judged(f"{n}", Verdict.UNKNOWN, visit=visit(T - n), revisit=None) for n in range(1, 9)))
    assert capture_entry(guessed)["blur"]["guessed"] == 8
    text = summary([guessed], write([guessed], tmp_path))
    assert "blur         no figure: nothing was known beforehand about how often 8 of 8 pages change" in text
    assert "Average blur" not in {tile.label for tile in tiles(capture_entry(guessed))}
    assert "Average blur is not shown here:" in rendered(guessed)[NAME]


def test_an_expectation_missed_by_chance_or_by_little_is_not() -> None:
    kept, edited = (looked(f"{v}", v, "f", "f" if v is Verdict.COHERENT else "g") for v in list(Verdict)[:2])
    some = [replace(kept, url=f"{i}") for i in range(97)] + [replace(edited, url=f"c{i}") for i in range(3)]
    assert noted(facts(*(replace(page, visit=replace(page.visit, digest=page.url)) for page in some))) == []


def test_the_console_says_what_an_audit_supports(tmp_path: Path) -> None:
    told = {"claimed": 36, "audited": 1, "changed": 0, "lies": 0, "unaudited": 35, "bound": 35}
    told |= {"confidence": 0.95, "classes": [], "strata": [], "unshown": {"since": 0, "lost": 0}}
    made = facts(looked("a", Verdict.COHERENT, "f", "f"), audit=told)
    text = summary([made], write([made], tmp_path))
    again = "1 page downloaded again: none of them had changed. With 95% confidence at most 35 of the 36 pages claimed"
    assert (
        f"{again} on the server's word alone are wrong. A larger audit= narrows that. For 35 of these the audit shows"
        " nothing: no page of their folder and file type was found unchanged" in text
    )
    text = summary([replace(made, audit=told | {"audited": 0, "unaudited": 36})], write([made], tmp_path))
    assert "none of them had changed" not in text, "where all that was asked for was refused"
    text = summary([replace(made, audit=told | {"unshown": {"since": 0, "lost": 21}})], write([made], tmp_path))
    assert (
        "1 page downloaded again: none of them had changed. Of 21 pages the sample shows nothing: no answer for"
        " 21 showed whether anything had changed" in text
    )
    made = replace(made, audit=told | {"bound": 36, "changed": 1})
    text = summary([made], write([made], tmp_path))
    with_data = summary([replace(made, audit=told | {"data": 20})], write([made], tmp_path))
    assert "1 URL downloaded again: none of them had changed" in with_data
    assert "at most 35 of the 16 pages and 20 pieces of data claimed on the server's word alone are" in with_data
    assert "For 35 of these the audit shows nothing: no URL of their" in with_data
    refused = summary(
        [replace(made, audit=told | {"bound": 36, "unshown": {"since": 2, "lost": 21}})], write([made], tmp_path)
    )
    assert "So any number of the 36 pages claimed on the server's word alone may be wrong" in refused
    assert (
        "Of 23 pages the sample shows nothing: 2 changed, by the server's word alone after the reference instant"
        in refused
    )
    few = "Too few were audited to say how many of the 36 pages claimed on the server's word alone may be wrong"
    assert f"1 page downloaded again: 1 of them had changed. {few}" in text


def test_pages_made_by_script_are_told_where_they_are_most() -> None:
    pages = [looked(f"{i}", Verdict.COHERENT, "f", "f", rate=0.0, by_script=i < 2) for i in range(4)]
    assert noted(facts(*pages)) == [], "half of them"
    (note,) = noted(facts(*pages[:3], looked("pdf", Verdict.COHERENT, "f", "f", rate=0.0)))
    assert note.startswith("2 of 3 HTML pages have scripts, no links and hardly any text")
    assert "With browser=always it is" in note
    (note,) = noted(replace(facts(*pages[:3]), settings={"browser": "always"}))
    assert note.endswith("a browser that ran the scripts shows no more. What they ask for may be missing")
    failed = "1 page was not shown by a browser (the browser ended): http://h/0"
    (_, note) = noted(replace(facts(*pages[:3]), settings={"browser": "always"}, notes=(failed,)))
    assert note.endswith("not each was shown by a browser, so what scripts make may be missing")


def test_many_urls_with_one_payload_are_told() -> None:
    one, two = (replace(looked(name, Verdict.COHERENT, "f", "f"), rate=0.0) for name in ("soft404", "other"))
    pages = [replace(one, url=f"http://h/{i}") for i in range(5)] + [
        replace(two, url=f"http://g/{i}") for i in range(2)
    ]
    (note,) = noted(facts(*pages))
    assert note.startswith("5 pages (71.4 %) are copies of 1, byte for byte: error pages with status 200")
    assert note.endswith("5 as http://h/0")
    assert noted(facts(*pages[3:])) == [], "two may be alike"


def sampled(of: str, caught: int, label: str = "") -> dict[str, object]:
    """An audit with one sample of pages."""
    strata = [{"of": of, "label": label, "claimed": 0, "confirmed": 3, "caught": caught}]
    return {"of": of, "claimed": 0, "strata": strata, "classes": []}


@pytest.mark.parametrize(
    ("of", "words"),
    [
        ("304", "the server was caught lying: for 2 pages it said that nothing had changed (304)"),
        ("lastmod", "the sitemaps were caught lying: downloads show that 2 pages had changed and kept the old lastmod"),
    ],
)
def test_what_was_caught_lying_and_what_follows_is_said_first(of: str, words: str) -> None:
    note = noted(blog(audit=sampled(of, 2, "/p/*.html")))[0]
    assert note.startswith(words)
    assert f"So no {of} is believed" in note
    assert "/p/*.html" in note
    assert "later captures" in note
    assert not any("lying" in one for one in noted(blog(audit=sampled(of, 0))))


def test_a_session_whose_cookies_ended_meanwhile_is_told_and_no_server_called_a_liar_for_it() -> None:
    def told(ends: str) -> str:
        return " / ".join(
            noted(replace(blog(audit=sampled("lastmod", 2)), settings={"session": "r", "session_ends": ends}))
        )

    assert "lying" in told("2037-01-01T00:00:00Z")
    assert "requests were made in a session (r)" in told("2037-01-01T00:00:00Z")
    ended = told("2001-01-01T00:00:00Z")
    assert "lying" not in ended and "requests were made in" not in ended
    assert "downloads of 2 pages differ though the server's word was that nothing had changed" in ended
    assert "the session (r) may have ended before the capture did: cookies of it were valid until 2001" in ended


@pytest.mark.parametrize(("ends", "when"), [("2001-01-01T00:00:00Z", "went on"), ("2037-01-01T00:00:00Z", "began")])
def test_whether_cookies_had_expired_when_a_capture_began_or_when_it_went_on_is_told(ends: str, when: str) -> None:
    settings = {"session": "r", "session_ends": ends, "session_cookies": "those for h had expired"}
    notes = noted(replace(blog(), settings=settings))
    assert any(note.startswith(f"when the capture {when}, of the cookies of its session (r) those") for note in notes)


def test_a_changed_page_whose_first_copy_a_lying_304_had_called_unmodified_is_explained() -> None:
    old = looked("old", Verdict.CHANGED, "f", "g")
    old = replace(old, visit=replace(old.visit, status=304), reason="other-bytes")
    caught = facts(old, audit=sampled("304", 1))
    assert any("the first copy of 1 changed page is a former capture's" in note for note in noted(caught))
    (entry,) = page_entries(caught)
    assert entry["reason"].endswith("called unmodified by the server: it may have changed before that")
    (entry,) = page_entries(facts(old, audit=sampled("304", 0)))
    assert entry["reason"] == "different bytes before and after", "an honest 304: it changed since"


def test_what_speaks_against_a_capture_comes_first_and_how_it_was_made_last_and_folded(tmp_path: Path) -> None:
    probe = HowMade("a page that cannot exist was asked for")
    made = facts(
        looked("a", Verdict.COHERENT, "f", "f"),
        notes=(probe, HowMade("by order"), "3 pages were discovered late"),
        settings={"masks": "m.json", "masks_number": 2},
    )
    late, *making = noted(made)
    assert late == "3 pages were discovered late"
    assert all(isinstance(note, HowMade) for note in making)
    assert (len(making), capture_entry(made)["notes_how_made"]) == (3, 3)
    text = summary([made], write([made], tmp_path))
    assert "note         3 pages were discovered late" in text
    assert "3 more notes in the report, all on how it was made" in text
    many = replace(made, notes=(probe, *(f"note {number}" for number in range(9))))
    assert "more notes in the report\n" in summary([many], write([many], tmp_path)), "some speak against it"
    assert "cannot exist" not in text
    shown, folded = rendered(made)[NAME].split("<summary>On how it was made: 3 notes</summary>")
    assert "3 pages were discovered late" in shown
    assert "made with 2 masks" in folded
    assert "No note on what was captured." in rendered(replace(made, notes=(probe,)))[NAME]


def test_a_page_is_shown_by_the_url_that_its_warc_records_have(tmp_path: Path) -> None:
    page = looked("p?a=1&b=2", Verdict.CHANGED, "f", "g")
    captured = facts(replace(page, archived_as="http://h/p?utm_source=x&b=2&a=1"), page)
    one, other = page_entries(captured)
    assert (one["url"], one["archived_as"], other["archived_as"]) == (page.url, "http://h/p?utm_source=x&b=2&a=1", None)
    html = rendered(captured)[NAME]
    assert 'href="http://h/p?utm_source=x&amp;b=2&amp;a=1"' in html
    assert [line["url"] for line in pages(tmp_path, [captured])] == 2 * [one["archived_as"]] + 2 * [page.url]


def test_a_report_of_a_time_before_archived_as_is_still_rendered() -> None:
    made = facts(looked("a", Verdict.CHANGED, "f", "g"), page("http://h/lost", reason="gone: 404"))
    lines = [json.dumps({k: v for k, v in one.items() if k != "archived_as"}) for one in page_entries(made)]
    assert "http://h/a" in "".join(render(document([made]), lines)[NAME])


def test_that_a_detector_failed_is_told_first() -> None:
    failed = f"3 documents were {DETECTOR_FAILED}: http://h/ (raised)"
    notes = noted(blog(notes=["pages were cut", failed, HowMade("no sitemap named any page")]))
    assert (notes[0], notes[1], notes[-1]) == (failed, "pages were cut", "no sitemap named any page")


def behind_a_wall(target: str, walled: int = 3, captured: int = 3, **fields: object) -> CaptureFacts:
    moved = [f"http://h/{number}" for number in range(walled)]
    return facts(
        *(page(url, visit=visit(T, result=Result.REDIRECTED), target=target.format(url), reason="r") for url in moved),
        *(looked(f"kept{number}", Verdict.COHERENT, "f", "f") for number in range(captured)),
        **fields,
    )


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("http://h/consent", "http://h/consent"),
        ("http://h/consent?next={}", "http://h/consent"),
        ("{}?check=1", "their own addresses"),
    ],
)
def test_a_wall_that_half_of_the_pages_lead_to_is_told(target: str, place: str) -> None:
    [told] = [note for note in noted(behind_a_wall(target)) if "log-in" in note]
    assert told.startswith(f"3 pages redirect to {place}: do they want a cookie, a consent or a log-in?")
    assert "cookies=FILE" in told
    (own,) = [note for note in noted(behind_a_wall(target, settings={"session": "a reader's"})) if "log-in" in note]
    assert "cookies=FILE" not in own
    for other in (
        behind_a_wall(target, captured=4),
        behind_a_wall(target, walled=2, captured=1),
        behind_a_wall(target, settings={"spider": "their own"}),
        behind_a_wall("http://www.h/{}/x"),
    ):
        assert not [note for note in noted(other) if "log-in" in note]


def test_a_wall_before_the_seed_is_told_though_nothing_else_is_known() -> None:
    wall = page("http://h/", visit=visit(T, result=Result.REDIRECTED), target="http://h/consent?next=/", reason="r")
    others = [judged(f"http://h/{number}", Verdict.COHERENT) for number in range(2)]
    [told] = [note for note in noted(facts(wall, others[0], seeds=("http://h/",))) if "log-in" in note]
    assert told.startswith("the seed http://h/ redirects to http://h/consent: does it want a cookie")
    way_in = page("http://h/accept", visit=visit(T, result=Result.REDIRECTED), target="http://h/", reason="r")
    assert told in noted(facts(wall, way_in, others[0], seeds=("http://h/",)))
    assert not [note for note in noted(facts(wall, *others, seeds=("http://h/",))) if "log-in" in note], (
        "an ordinary way in"
    )


def test_a_seed_that_was_not_taken_in_is_named_with_the_reason() -> None:
    left = (Outside("http://h/b", "excluded by 'b'", "seed"), Outside("http://h/c", "excluded by 'c'", "http://h/"))
    notes = noted(facts(judged("http://h/", Verdict.COHERENT), outside=left))
    assert [note for note in notes if "seed" in note] == ["seed http://h/b is not in the capture: excluded by 'b'"]
