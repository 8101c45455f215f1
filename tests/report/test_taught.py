"""A capture teaches masks from its own pairs; edits stay edits."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from sharc_crawler.archive.options import WarcOptions
from sharc_crawler.archive.warc import WarcWriter
from sharc_crawler.changes.digest import labelled_digest
from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.masks import load_masks
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.capture import CaptureFacts
from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Kind, Result, Slot, Url, Verdict
from sharc_crawler.report.document import capture_entry
from sharc_crawler.report.entries import page_entries
from sharc_crawler.report.taught import NAME, read_taught
from sharc_crawler.report.teaching import teach
from tests.archive.readback import INFO, page

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.evidence.facts import Taught

T = 1_795_000_000.0
FILLER = "<p>Words of a page, as many as pages have, so that a footer is a small part of it.</p>" * 6
PAGE = "<html><body class='post-{n}'>{filler}<p>{text}</p><p class=made>Queries: {queries}</p></body></html>"


def visit(writer: WarcWriter, url: str, at: float, body: bytes, slot: Slot) -> VisitFacts:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n" % len(body)
    ref = writer.write(replace(page(), url=url, started=at, ended=at + 0.1, response=head + body))
    return VisitFacts(
        slot, Result.OK, at, at + 0.1, 200, labelled_digest(body), fingerprint(body, "text/html"),
        warc=f"{ref.file}:{ref.offset}",
    )  # fmt: skip


def blog(folder: Path, edited: int = 0, told: int = 0) -> CaptureFacts:
    """Twelve posts that count queries, some edited between their visits; and some of which a 304 was not believed."""
    made = []
    with WarcWriter(folder, "h.example", "run1", INFO, WarcOptions()) as writer:
        for n in range(12):
            url, bodies = f"http://h.example/?p={n}", []
            for fetch in (0, 1):
                text = f"Article {n}{', edited' * (fetch and n < edited)}."
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
    why = Reason.NOT_MODIFIED_LIES.of("/* (3 caught)")
    made += [
        replace(made[0], url=Url(f"http://h.example/304/{n}"), verdict=Verdict.UNKNOWN, reason=why, revisit=None,
                evidence=Evidence.NONE)
        for n in range(told)
    ]  # fmt: skip
    return CaptureFacts("h.example", ("http://h.example/",), "bfs", T - 20, T + 20, T, tuple(made))


def with_taught(facts: CaptureFacts, taught: Taught) -> CaptureFacts:
    pages = tuple(replace(one, alike=one.url in taught.alike) for one in facts.pages)
    return replace(facts, pages=pages, taught=taught)


def test_all_pages_kept_their_content_and_the_masks_are_offered(tmp_path: Path) -> None:
    facts = blog(tmp_path, told=3)
    taught = teach([facts], tmp_path)
    assert [mask.path for mask in taught.masks] == ["//p[@class='made']"]
    assert load_masks(tmp_path / NAME) == taught.masks
    assert read_taught(tmp_path) == taught
    entry = capture_entry(with_taught(facts, taught))
    totals = entry["coherence"]
    assert totals["content"] == {"kept": 15, "changed": 0, "unknown": 0}
    assert (totals["coherent"], totals["same_content"], totals["by_masks"]) == (0, 15, 12)
    assert totals["by_304"] == 3
    assert any("lost to one template" in note and NAME in note for note in entry["notes"])


def test_edited_pages_lost_theirs_and_304s_say_nothing_then(tmp_path: Path) -> None:
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


def test_what_the_capture_was_made_with_is_kept_and_not_learned_again(tmp_path: Path) -> None:
    known = teach([blog(tmp_path)], tmp_path).masks
    assert teach([blog(tmp_path)], tmp_path, known).masks == ()
    assert load_masks(tmp_path / NAME) == known


def test_a_folder_whose_masks_were_replaced(tmp_path: Path) -> None:
    (tmp_path / NAME).write_text('{"version": 1, "masks": []}')
    with pytest.raises(DataError, match="remove it"):
        read_taught(tmp_path)
