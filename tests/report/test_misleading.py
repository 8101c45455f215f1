"""Pages that show what a page shows that cannot exist."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

from sharc_crawler.addresses.unlikely import look_at
from sharc_crawler.model import Kind
from sharc_crawler.state.rows import Batch
from sharc_crawler.storage.sqlite import SqliteStore
from sharc_crawler.testing.stores import capture_row, page_row, visit_row
from sharc_crawler.traps.probing import note
from tests.report.by_hand import load_facts

if TYPE_CHECKING:
    from pathlib import Path

PROBE = "http://h.example/no-such-page-abcdefghij"
LOOK = look_at("http://h.example/a")


def notes_of(folder: Path, digests: list[str], probe: str = PROBE) -> list[str]:
    """Of pages with these digests, and of one that cannot exist."""
    outcome = visit_row(0).outcome
    shown = [*digests, "sha1:ERROR"]
    rows = [page_row(number) for number in range(len(digests))]
    rows.append(page_row(len(digests), kind=Kind.PROBE, key=probe, url=probe))
    visits = [visit_row(page)._replace(outcome=outcome._replace(digest=digest)) for page, digest in enumerate(shown)]
    folder.mkdir()
    with closing(SqliteStore(folder)) as store:
        store.commit(Batch(rows, visits, captures={0: capture_row(ended=40.0, notes=(note(PROBE, outcome),))}))
    return [one for one in load_facts(folder)[0].notes if "bytes of the site's error page" in one]


def test_pages_with_the_bytes_of_an_error_page_are_told(tmp_path: Path) -> None:
    told = "the bytes of the site's error page with status 200, counted as captured: "
    urls = [page_row(number).url for number in range(6)]
    assert notes_of(tmp_path / "one", ["sha1:A", "sha1:ERROR"]) == [f"1 page has {told}{urls[1]}"]
    many = notes_of(tmp_path / "many", ["sha1:A", *["sha1:ERROR"] * 5])
    assert many == [f"5 pages have {told}{', '.join(urls[1:4])} and 2 more"]


def test_nothing_is_told_of_other_bytes_or_of_a_page_asked_once_more_for_its_links(tmp_path: Path) -> None:
    assert notes_of(tmp_path / "none", ["sha1:A", "sha1:B"]) == []
    assert notes_of(tmp_path / "look", ["sha1:ERROR"], LOOK) == []
