"""Conformance tests of a :class:`~sharc_crawler.state.store.FrontierStore`.

Subclass :class:`FrontierStoreContract` in a test module, and name the plug-in; pytest collects the tests::

    class TestMyStore(FrontierStoreContract):
        kind = MyStore
"""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest

from sharc_crawler.errors import SharcError, Superseded
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import (
    CaptureRef,
    Document,
    Hints,
    HowMade,
    Kind,
    Outcome,
    Phase,
    Plan,
    Result,
    Slot,
    Validators,
    Verdict,
)
from sharc_crawler.rates.swings import Swings
from sharc_crawler.state.rows import (
    Batch,
    CaptureRow,
    HostRow,
    JudgementRow,
    LastmodRow,
    LinksRow,
    NoveltyRow,
    OutsideRow,
    PageRow,
    SubsiteRow,
    VisitRow,
)
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.state.store import FrontierStore, StoreKind
from sharc_crawler.storage.memory import exchanges_of, urls_of
from sharc_crawler.subsites.base import Branch


def page_row(page: int, **changed: object) -> PageRow:
    """A discovered page."""
    url = f"http://h.example/{page}?x=ä"
    row = PageRow(page, 0, url, url, Kind.PAGE, "h.example", 1, -1, "seed", 0, 1e-5, "prior", math.inf, 1.0, None, "")
    return row._replace(**changed)  # type: ignore[arg-type]


def visit_row(page: int, slot: Slot = Slot.FIRST, *, finished: bool = True) -> VisitRow:
    """A visit whose outcome has all its fields set."""
    outcome = Outcome(
        Result.OK if finished else Result.FAILED,
        10.25,
        10.5,
        status=200,
        digest="sha1:ABC",
        fingerprint="f",
        validators=Validators('"tag"', "Thu, 01 Jan 1970 00:00:10 GMT"),
        location=None,
        length=17,
        media_type="text/html",
        charset="utf-8",
        document=Document(1, 2, 3, by_script=True, words="sha1:W"),
        date=9.0,
        age=4.0,
        part=True,
        capture=CaptureRef("a.warc.gz", 5, 7),
        retry_after=None if finished else 2.5,
    )
    return VisitRow(page, slot, Plan.HOPELESS, 1, finished, 3, 10.0, outcome)


def capture_row(**changed: object) -> CaptureRow:
    """The state of a capture."""
    spec = CaptureSpec("site", ("http://h.example/",), include=("a", "b"), sitemaps=(), settings={"delay": 1.5})
    return CaptureRow(0, spec, Phase.VISIT, 1.5, None, None, ("a note",))._replace(**changed)  # type: ignore[arg-type]


def subsite_row(number: int, **changed: object) -> SubsiteRow:
    """A part of a site that is captured part by part."""
    branches = (Branch(("h", "h/a/"), frozenset({"h/a/b/"}), ("a", "m")), Branch(()))
    row = SubsiteRow(0, number, "h/a/ … ö", 0.95, 1.5, None, None, branches)
    return row._replace(**changed)  # type: ignore[arg-type]


class FrontierStoreContract:
    """The tests that every store of frontier state must pass."""

    kind: ClassVar[StoreKind]
    persistent: ClassVar[bool] = True  #: whether another process finds committed rows

    def open(self, folder: Path, *, reading: bool = False) -> FrontierStore:
        """Open the store in ``folder``, new or existing."""
        return type(self).kind(folder, reading=reading)

    def test_begins_empty(self, tmp_path: Path) -> None:
        """A new store is empty."""
        assert not self.open(tmp_path).load()

    def test_gives_back_what_was_committed(self, tmp_path: Path) -> None:
        """All rows come back with all fields, in the order in which they were committed."""
        store = self.open(tmp_path)
        hints = Hints(5.0, 86400.0, "daily", 0.8)
        tagged, dated = (
            (row := visit_row(1))._replace(outcome=row.outcome._replace(validators=validators))
            for validators in (Validators('"tag"', None), Validators(None, "Thu, 01 Jan 1970 00:00:10 GMT"))
        )
        batch = Batch(
            pages=[page_row(0, hints=hints), page_row(1, shape=2.5, reason="why", state=6)],
            visits=[visit_row(1, finished=False), visit_row(1), visit_row(0, Slot.SECOND), tagged, dated],
            judgements=[JudgementRow(0, Verdict.COHERENT, Evidence.BYTES, "equal bytes")],
            captures={0: capture_row()},
            hosts={"h.example": HostRow("h.example", "User-agent: *", 1.0)},
            embeds=[(0, 1)],
            novelties={1: NoveltyRow(1, 0, 10.5, None, 9.0, 7.5, 10.0)},
            lastmods=[LastmodRow(1, 10.25, 5.0, 1.0), LastmodRow(0, 9.5, 0.0, 86400.0)],
            subsites={(0, 0): subsite_row(0), (0, 1): subsite_row(1)},
            members=[(0, 0), (1, 1)],
            kept={"request 0": '{"url": "http://h.example/ö"}', "cookies": "[]"},
            outside=[OutsideRow(0, "http://o.example/ö", "another host", "seed")],
            links=[LinksRow(0, 10.25, (0, 1)), LinksRow(1, 10.75, ())],
        )
        store.commit(batch)
        assert store.load() == replace(batch, links=[]), "links are read separately"
        assert list(store.urls(0)) == list(urls_of(batch, 0))
        assert (store.hosts(), store.subsites()) == (batch.hosts, batch.subsites)
        store.commit(Batch(kept={"cookies": "[1]"}))
        assert store.load().kept == {**batch.kept, "cookies": "[1]"}
        assert list(store.links()) == batch.links

    def test_the_last_word_on_captures_and_hosts_counts(self, tmp_path: Path) -> None:
        """Captures and hosts are rewritten; everything else is appended."""
        store = self.open(tmp_path)
        store.commit(Batch(captures={0: capture_row()}, hosts={"h": HostRow("h", None, 1.0)}))
        turned = capture_row(
            phase=Phase.REVISIT,
            reference=9.0,
            notes=("a note", HowMade("another")),
            interruptions=((3.0, 4.5),),
            skipped={"x": 3},
            audit={"share": 0.02, "classes": []},
            swings=Swings((0.5, 0.25), 6.0, 1e-6, 0.5),
        )
        store.commit(Batch(captures={0: turned}, hosts={"h": HostRow("h", "text", 2.0)}))
        assert store.load().captures == {0: turned}
        assert [*map(type, store.load().captures[0].notes)] == [str, HowMade], "what kind of note each is"
        assert store.load().hosts == {"h": HostRow("h", "text", 2.0)}

    def test_a_part_is_rewritten_when_it_is_captured(self, tmp_path: Path) -> None:
        """Its reference instant and its end are known only then."""
        store = self.open(tmp_path)
        store.commit(Batch(subsites={(0, 0): subsite_row(0)}))
        captured = subsite_row(0, reference=9.0, ended=12.0)
        store.commit(Batch(subsites={(0, 0): captured}))
        assert store.load().subsites == {(0, 0): captured}

    def test_a_better_rate_replaces_the_first(self, tmp_path: Path) -> None:
        """A page's last rate is the one that is reported."""
        store = self.open(tmp_path)
        store.commit(Batch(pages=[page_row(0)]))
        store.commit(Batch(rates=[(0, 0.5, "sitemap", 2.0)]))
        (page,) = store.load().pages
        assert (page.rate, page.source, page.shape) == (0.5, "sitemap", 2.0)
        store.commit(Batch(rates=[(0, 0.25, "history", math.inf)]))
        (page,) = store.load().pages
        assert (page.rate, page.source, page.shape) == (0.25, "history", math.inf)

    def test_what_a_sitemap_says_later_is_kept(self, tmp_path: Path) -> None:
        """A sitemap may be read after the page was discovered."""
        store = self.open(tmp_path)
        store.commit(Batch(pages=[page_row(0, hints=None)]))
        store.commit(Batch(hints=[(0, Hints(lastmod=5.0, priority=0.7))]))
        assert store.load().pages[0].hints == Hints(lastmod=5.0, priority=0.7)

    def test_an_embedding_is_known_once(self, tmp_path: Path) -> None:
        """Each pair of page and resource is stored once."""
        store = self.open(tmp_path)
        store.commit(Batch(embeds=[(0, 1), (0, 1)]))
        store.commit(Batch(embeds=[(0, 1), (0, 2)]))
        assert store.load().embeds == [(0, 1), (0, 2)]

    def test_captures_and_outside_are_had_by_themselves(self, tmp_path: Path) -> None:
        """They can be read without loading everything."""
        store = self.open(tmp_path)
        left = [OutsideRow(0, f"http://o.example/{number}", "another host", "seed") for number in range(3)]
        store.commit(Batch(captures={0: capture_row()}, outside=left))
        assert store.captures() == {0: capture_row()}
        assert list(store.outside()) == left

    def test_urls_are_those_of_one_capture_in_the_order_of_discovery(self, tmp_path: Path) -> None:
        """Each URL has its own visits, whatever was committed between them."""
        store = self.open(tmp_path)
        others = page_row(1)._replace(capture=1)
        store.commit(Batch([page_row(0), others, page_row(2)], captures={0: capture_row()}, embeds=[(0, 2)]))
        store.commit(Batch(visits=[visit_row(2), visit_row(1), visit_row(0), visit_row(2, Slot.SECOND)]))
        found = list(store.urls(0))
        assert [(row.page.page, len(row.visits)) for row in found] == [(0, 1), (2, 2)]
        assert [row.embeds for row in found] == [(page_row(2).key,), ()]
        assert [row.page.page for row in store.urls(1)] == [1]

    def test_exchanges_are_visits_with_what_is_known_of_their_pages(self, tmp_path: Path) -> None:
        """Exchanges are in the order in which they ended, numbered from 1, and can be read from any number on."""
        store = self.open(tmp_path)
        store.commit(Batch([page_row(0), page_row(1, parent=0)], captures={0: capture_row()}))
        store.commit(Batch(visits=[visit_row(0, finished=False), visit_row(0), visit_row(1)]))
        store.commit(Batch(judgements=[JudgementRow(0, Verdict.CHANGED, Evidence.BYTES, "other bytes")]))
        found = list(store.exchanges())
        assert found == list(exchanges_of(store.load()))
        assert [(row.number, row.finished, row.verdict) for row in found] == [
            (1, False, "changed"),
            (2, True, "changed"),
            (3, True, None),
        ]
        assert list(store.exchanges(after=2)) == found[2:]

    def test_an_exchange_has_no_verdict_where_data_of_its_page_may_have_another(self, tmp_path: Path) -> None:
        """The exception is a document that changed."""
        store = self.open(tmp_path)
        kinds = [Kind.PAGE, Kind.PAGE, Kind.PAGE, Kind.DATA, Kind.RESOURCE]
        rows = [page_row(number, kind=kind) for number, kind in enumerate(kinds)]
        store.commit(Batch(rows, captures={0: capture_row()}, embeds=[(0, 3), (0, 4), (1, 3), (2, 4)]))
        store.commit(Batch(visits=[visit_row(number) for number in range(5)]))
        verdicts = [Verdict.COHERENT, Verdict.CHANGED, *[Verdict.COHERENT] * 3]
        store.commit(Batch(judgements=[JudgementRow(at, one, Evidence.BYTES, "") for at, one in enumerate(verdicts)]))
        found = list(store.exchanges())
        assert found == list(exchanges_of(store.load()))
        assert [row.verdict for row in found] == [None, "changed", *["coherent"] * 3]

    def test_of_two_judgements_of_a_page_the_last_stands(self, tmp_path: Path) -> None:
        """Another part of the site may bring new evidence."""
        store = self.open(tmp_path)
        store.commit(Batch([page_row(0)], [visit_row(0)], captures={0: capture_row()}))
        for verdict in (Verdict.COHERENT, Verdict.UNKNOWN):
            store.commit(Batch(judgements=[JudgementRow(0, verdict, Evidence.NONE, "")]))
        assert store.load().judgements == [JudgementRow(0, Verdict.UNKNOWN, Evidence.NONE, "")]

    def test_state_is_replaced_as_a_whole_but_for_links(self, tmp_path: Path) -> None:
        """Rows that are not in the new state are removed."""
        store = self.open(tmp_path)
        store.commit(Batch([page_row(0), page_row(1)], [visit_row(0), visit_row(1)], captures={0: capture_row()}))
        store.commit(Batch(judgements=[JudgementRow(0, Verdict.COHERENT, Evidence.BYTES, "equal bytes")]))
        store.commit(Batch(links=[LinksRow(0, 10.25, (1,))], members=[(0, 0)], embeds=[(0, 1)]))
        state = Batch([page_row(0)], [visit_row(0, finished=False)], captures={0: capture_row(notes=("withdrawn",))})
        store.replace(state)
        assert store.load() == state
        assert list(store.links()) == [LinksRow(0, 10.25, (1,))]
        store.commit(Batch([page_row(1)]))
        assert len(store.load().pages) == 2

    def test_what_was_committed_is_there_for_others_without_being_closed(self, tmp_path: Path) -> None:
        """Readers see it while its owner has the store open, and cannot write."""
        if not self.persistent:
            return
        assert not self.kind.holds(tmp_path)
        store = self.open(tmp_path)
        store.commit(Batch([page_row(0)]))
        assert self.kind.holds(tmp_path)
        reader = self.open(tmp_path, reading=True)
        assert len(reader.load().pages) == 1
        store.commit(Batch([page_row(1)]))
        assert len(reader.load().pages) == 2
        with pytest.raises(SharcError):
            reader.commit(Batch([page_row(2)]))
        reader.close()
        store.close()
        assert len(self.open(tmp_path, reading=True).load().pages) == 2

    def test_it_has_one_owner_at_a_time(self, tmp_path: Path) -> None:
        """Of two processes that open it, only one can write."""
        if not self.persistent:
            return
        first = self.open(tmp_path)
        first.commit(Batch([page_row(0)]))
        with pytest.raises(Superseded):
            second = self.open(tmp_path)
            second.commit(Batch([page_row(1)]))
            first.commit(Batch([page_row(2)]))
        first.close()
        third = self.open(tmp_path)
        third.commit(Batch([page_row(len(third.load().pages))]))
        third.close()
