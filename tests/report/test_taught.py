"""A capture teaches masks from its own pairs; edits stay edits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.learning import ASKING
from sharc_crawler.changes.masks import load_masks
from sharc_crawler.demo.answers import http_date
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.facts import LEARNED, NOTHING_TAUGHT, CaptureFacts, PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Kind, Result, Slot, Url, Verdict
from sharc_crawler.report.document import capture_entry
from sharc_crawler.report.entries import page_entries
from sharc_crawler.report.mask_candidates import Teachers, read_taught, teach
from sharc_crawler.report.mask_learning import lesson_of
from tests.archive.readback import INFO, page

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.evidence.facts import Taught

T = 1_795_000_000.0
FILLER = "<p>Words of a page, as many as pages have, so that a footer is a small part of it.</p>" * 6
PAGE = "<html><body class='post-{n}'>{filler}<p>{text}</p><p class=made>Queries: {queries}</p></body></html>"


def visit(writer: WarcWriter, url: str, at: float, body: bytes, slot: Slot, more: bytes = b"") -> VisitFacts:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%bContent-Length: %d\r\n\r\n" % (more, len(body))
    ref = writer.write(replace(page(), url=url, started=at, ended=at + 0.1, response=head + body))
    return VisitFacts(
        slot, Result.OK, at, at + 0.1, 200, labelled_digest(body), fingerprint(body, "text/html"),
        warc=f"{ref.file}:{ref.offset}",
    )  # fmt: skip


def blog(folder: Path, edited: int = 0, told: int = 0, now: str = ", edited") -> CaptureFacts:
    """Twelve posts that count queries, some edited between their visits; and some of which a 304 was not believed."""
    made = []
    with WarcWriter(folder, "h.example", "run1", INFO, WarcOptions()) as writer:
        for n in range(12):
            url, bodies = f"http://h.example/?p={n}", []
            for fetch in (0, 1):
                text = f"Article {n}{now * (fetch and n < edited)}."
                bodies.append(PAGE.format(n=n, filler=FILLER, text=text, queries=20 + (7 * n + 5 * fetch) % 9).encode())
            fetched = [
                visit(writer, url, T + at, body, slot)
                for body, at, slot in zip(bodies, (-1 - n, 1 + n), (Slot.FIRST, Slot.SECOND), strict=True)
            ]
            found = PageFacts(
                Url(url), Kind.PAGE, "", 0, 1e-6, "prior", visit=fetched[0], revisit=fetched[1],
                verdict=Verdict.CHANGED, evidence=Evidence.BYTES, reason=Reason.OTHER_BYTES,
            )  # fmt: skip
            made.append(found)
    why = Reason.NOT_MODIFIED_DOUBTED.of("/* (3 caught)")
    made += [
        replace(made[0], url=Url(f"http://h.example/304/{n}"), verdict=Verdict.UNKNOWN, reason=why, revisit=None,
                evidence=Evidence.NONE)
        for n in range(told)
    ]  # fmt: skip
    return CaptureFacts("h.example", ("http://h.example/",), "bfs", T - 20, T + 20, T, tuple(made))


def with_taught(facts: CaptureFacts, taught: Taught) -> CaptureFacts:
    pages = tuple(replace(one, alike=one.url in taught.alike) for one in facts.pages)
    return replace(facts, pages=pages, taught=taught)


def test_pages_of_two_downloads_kept_their_content_and_the_masks_are_offered(tmp_path: Path) -> None:
    facts = blog(tmp_path, told=3)
    taught = teach([facts], tmp_path)
    assert [mask.path for mask in taught.masks] == ["//p[@class='made']"]
    assert load_masks(tmp_path / LEARNED) == taught.masks
    assert read_taught(tmp_path) == taught
    entry = capture_entry(with_taught(facts, taught))
    totals = entry["coherence"]
    assert totals["content"] == {"kept": 12, "changed": 0, "unknown": 3}
    assert (totals["coherent"], totals["same_content"], totals["by_masks"]) == (0, 12, 12)
    assert sum("differ only in what this capture learned to ignore" in note for note in entry["notes"]) == 1
    assert any("1 mask was learned from what differed" in note and LEARNED in note for note in entry["notes"])


def test_a_session_whose_cookies_ended_meanwhile_teaches_nothing(tmp_path: Path) -> None:
    facts = replace(blog(tmp_path), settings={"session": "r", "session_ends": "2037-01-01T00:00:00Z"})
    assert teach([facts], tmp_path).masks
    assert teach([replace(facts, settings={"session_ends": "2001-01-01T00:00:00Z"})], tmp_path) == NOTHING_TAUGHT


def test_pages_that_want_a_password_now_are_told_and_teach_nothing(tmp_path: Path) -> None:
    form = "<form method=post><input name=user><INPUT class=x type='password' name=pw></form>"
    facts = blog(tmp_path, edited=5, now=form)
    taught = teach([facts], tmp_path)
    assert len(taught.alike) == 7
    why = f"At least 5 pages want {ASKING}: has a session ended in between?"
    assert taught.why[0] == why
    assert why in capture_entry(with_taught(facts, taught))["notes"]
    assert not any("want a password" in one for one in teach([blog(tmp_path, edited=5)], tmp_path).why)


def test_edited_pages_lost_theirs(tmp_path: Path) -> None:
    facts = blog(tmp_path, edited=2, told=3)
    taught = teach([facts], tmp_path)
    assert len(taught.alike) == 10
    assert taught.why
    entry = capture_entry(with_taught(facts, taught))
    assert entry["coherence"]["content"] == {"kept": 10, "changed": 2, "unknown": 3}
    assert [one["content"] for one in list(page_entries(with_taught(facts, taught)))[:3]] == [
        "changed",
        "changed",
        "kept",
    ]


@pytest.mark.slow
def test_what_the_capture_was_made_with_is_kept_and_not_learned_again(tmp_path: Path) -> None:
    known = teach([blog(tmp_path)], tmp_path).masks
    assert teach([blog(tmp_path)], tmp_path, known).masks == ()
    assert load_masks(tmp_path / LEARNED) == known


def test_a_folder_whose_masks_were_replaced(tmp_path: Path) -> None:
    (tmp_path / LEARNED).write_text('{"version": 1, "masks": []}')
    with pytest.raises(DataError, match="remove it"):
        read_taught(tmp_path)


def numbered(
    folder: Path,
    same: int,
    modified: tuple[float, float] | None = None,
    *,
    by_304: bool = False,
    of_bytes: int = 2,
    lastmods: tuple[float, float] | None = None,
) -> CaptureFacts:
    """Two pages whose number went up between their visits, and others with the same, that were visited long apart.

    ``modified``: what each answer says of its page's last change, in seconds before it; ``by_304``: the others'
    revisits confirmed an ETag, and the ETags of ``of_bytes`` pages moved with their number; ``lastmods``: seconds after
    T at which the sitemap dates the last change of the two, and of the others.
    """
    made = []
    with WarcWriter(folder, "h.example", "run1", INFO, WarcOptions()) as writer:
        for n in range(2 + same):
            changed, gap = n < 2, 5.0 if n < 2 else 300.0
            fetched = []
            for fetch, slot in enumerate((Slot.FIRST, Slot.SECOND)):
                at, number = T + (2 * fetch - 1) * gap, 7 + fetch * changed
                body = PAGE.format(n=0, filler=FILLER, text=f"Page {n}.", queries=number + n).encode()
                more = f'ETag: "{n}-{number if n < of_bytes else 0}"\r\n' * by_304
                if modified or lastmods:
                    times = {"Date": at, "Last-Modified": at - modified[fetch]} if modified else {"Date": at}
                    more += "".join(f"{name}: {http_date(time)}\r\n" for name, time in times.items())
                fetched.append(visit(writer, f"http://h.example/{n}", at, body, slot, more.encode()))
            if by_304 and not changed:
                fetched[1] = replace(fetched[1], result=Result.NOT_MODIFIED, status=304)
            evidence = Evidence.VALIDATOR if by_304 and not changed else Evidence.BYTES
            verdict = Verdict.CHANGED if changed else Verdict.COHERENT
            made.append(
                PageFacts(
                    Url(f"http://h.example/{n}"), Kind.PAGE, "", 0, 1e-6, "prior", visit=fetched[0], revisit=fetched[1],
                    verdict=verdict, evidence=evidence, reason=Reason.OTHER_BYTES if changed else "",
                    lastmod=T + lastmods[not changed] if lastmods else None,
                )
            )  # fmt: skip
    return CaptureFacts("h.example", ("http://h.example/",), "bfs", T - 400, T + 400, T, tuple(made))


def test_a_page_that_its_server_calls_modified_was_edited(tmp_path: Path) -> None:
    assert len(teach([numbered(tmp_path / "a", 0)], tmp_path / "a").alike) == 2, "nothing else is known of it"
    taught = teach([numbered(tmp_path / "b", 0, (4000.0, 3.0))], tmp_path / "b")
    assert (taught.masks, taught.alike) == ((), frozenset())
    clock = teach([numbered(tmp_path / "c", 0, (0.0, 0.0))], tmp_path / "c")
    assert len(clock.alike) == 2, "a Last-Modified made on request tells of nothing"


@pytest.mark.parametrize("by_304", [False, True])
def test_what_differs_on_few_of_the_pages_that_have_it_was_edited_however_long_the_others_stayed(
    tmp_path: Path, by_304: bool
) -> None:
    taught = teach([numbered(tmp_path, 7, by_304=by_304)], tmp_path)
    assert (taught.masks, taught.alike) == ((), frozenset())
    assert "differs on 2 of 9 pages that have it" in taught.why[0]


def test_what_differs_on_fewer_than_half_of_the_pages_that_have_it_is_not_made_up_for_each_answer(
    tmp_path: Path,
) -> None:
    assert len(teach([numbered(tmp_path / "a", 2)], tmp_path / "a").alike) == 2
    few = teach([numbered(tmp_path / "b", 3)], tmp_path / "b")
    assert (few.masks, few.alike) == ((), frozenset())
    assert "differs on 2 of 5 pages that have it" in few.why[0]


@pytest.mark.parametrize(("of_bytes", "masks"), [(2, 0), (1, 0), (0, 1)])
def test_304s_count_unless_validators_mostly_stay_where_bytes_differ(tmp_path: Path, of_bytes: int, masks: int) -> None:
    facts = numbered(tmp_path, 7, by_304=True, of_bytes=of_bytes)
    doubted = [
        replace(one, verdict=Verdict.UNKNOWN, evidence=Evidence.NONE, reason=Reason.NOT_MODIFIED_DOUBTED.of("/*"))
        if one.verdict is Verdict.COHERENT
        else one
        for one in facts.pages
    ]
    for pages in (facts.pages, tuple(doubted)):
        taught = teach([replace(facts, pages=pages)], tmp_path)
        assert (len(taught.masks), len(taught.alike)) == (masks, 2 * masks)


def test_lies_that_were_caught_are_no_noise_unless_nearly_all_that_was_fetched_twice_differs(tmp_path: Path) -> None:
    lies = [teach([stale(tmp_path / str(same), same)], tmp_path / str(same)) for same in (0, 1)]
    assert [(len(taught.masks), len(taught.alike)) for taught in lies] == [(1, 2), (0, 0)]
    assert "differs on 2 of 3 pages that have it" in lies[1].why[0]


def stale(folder: Path, same: int) -> CaptureFacts:
    """Two pages that changed beside an ETag that stayed, and others that were fetched twice and are the same."""
    facts = numbered(folder, same, by_304=True, of_bytes=0)
    fetched = [
        replace(one, revisit=replace(one.revisit, result=Result.OK, status=200), evidence=Evidence.BYTES)
        for one in facts.pages
    ]
    return replace(facts, pages=tuple(fetched))


def test_a_page_whose_sitemap_dates_a_change_after_its_visit_was_edited(tmp_path: Path) -> None:
    for name, lastmods, learned in (
        ("edited", (3.0, -9e5), 0),
        ("old", (-9e5, -9e5), 2),
        ("by clock", (3.0, 900.0), 2),
    ):
        folder = tmp_path / name
        taught = teach([numbered(folder, 2, lastmods=lastmods)], folder)
        assert (name, len(taught.alike)) == (name, learned)
        assert len(taught.masks) == (learned > 0)
    both = Teachers([numbered(tmp_path / "both", 2, lastmods=(3.0, -9e5))])
    assert lesson_of(both, tmp_path / "both", ())[0].why_no_more() == [
        "Of 2 pages that differ the server itself says that each was modified: edits, no noise."
    ]


def test_pages_whose_payload_lies_in_a_former_capture_count_among_those_that_may_have_it(tmp_path: Path) -> None:
    facts = numbered(tmp_path, 7)
    elsewhere = [
        replace(one, visit=replace(one.visit, warc=one.visit.warc.rpartition(":")[0] + ":0"))  # no response lies there
        if one.verdict is Verdict.COHERENT
        else one
        for one in facts.pages
    ]
    taught = teach([replace(facts, pages=tuple(elsewhere))], tmp_path)
    assert (taught.masks, taught.alike) == ((), frozenset())
    assert "differs on 2 of 9 pages that have it, or may have it" in taught.why[0]


def test_where_nothing_can_be_learned_nothing_is_said_or_written_but_to_whom_gave_masks(tmp_path: Path) -> None:
    facts = blog(tmp_path)
    known = teach([facts], tmp_path).masks
    for file in (tmp_path / LEARNED, *tmp_path.glob("*.warc.gz")):
        file.unlink()
    assert teach([facts], tmp_path) == NOTHING_TAUGHT
    assert not (tmp_path / LEARNED).exists()
    assert teach([facts], tmp_path, known).why
