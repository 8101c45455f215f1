"""One file for several frontiers: each reads what it wrote, in its own numbers."""

from __future__ import annotations

from dataclasses import replace

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Slot, Verdict
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.state.rows import Batch, JudgementRow, LastmodRow, LinksRow, NoveltyRow, OutsideRow
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.sharing import SharedFile
from sharc_crawler.testing.stores import capture_row, page_row, subsite_row, visit_row


def one_of_each(site: str) -> Batch:
    """A capture of two pages, the second found on the first, with a row of each kind."""
    pages = [page_row(0, parent=NO_PARENT), page_row(1, parent=0)]
    return Batch(
        pages=[row._replace(key=f"{site}/{row.page}", url=f"{site}/{row.page}") for row in pages],
        visits=[visit_row(0), visit_row(1, Slot.SECOND)],
        judgements=[JudgementRow(1, Verdict.COHERENT, Evidence.BYTES, site)],
        captures={0: capture_row(notes=(site,))},
        embeds=[(0, 1)],
        links=[LinksRow(0, 1.5, (0, 1))],
        lastmods=[LastmodRow(1, 10.25, 5.0, 1.0)],
        novelties={1: NoveltyRow(1, 0, 10.5, None, 9.0, 8.5, 10.0)},
        outside=[OutsideRow(0, f"{site}/out", "scope", "link")],
        subsites={(0, 2): subsite_row(2)},
        members=[(1, 2)],
    )


def test_each_capture_of_a_file_gets_back_a_row_of_each_kind():
    store, sites = MemoryStore(), ["http://a.example", "http://b.example", "http://c.example"]
    file = SharedFile(store)
    parts, written = [file.part() for _ in sites], [one_of_each(site) for site in sites]
    for part, batch in zip(parts, written, strict=True):  # pages first, in turns: numbers in the file are no one's own
        part.commit(Batch(pages=batch.pages[:1], captures=batch.captures))
    for part, batch in zip(parts, written, strict=True):
        part.commit(replace(batch, pages=batch.pages[1:], captures={}))
    again = SharedFile(store).parts(store.load())
    for (part, read), batch in zip(again, written, strict=True):
        assert read == replace(batch, links=[])
        assert list(part.links()) == batch.links
