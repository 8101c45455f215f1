"""A page whose document stays has changed, to the history, where what its scripts fetched has."""

from __future__ import annotations

from dataclasses import replace

import pytest

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.live.former.remembering import remember
from sharc_crawler.model import Change, Kind, Phase, Result, Slot, Verdict
from sharc_crawler.rates.history import CHANGED, UNCHANGED
from sharc_crawler.state.rows import Batch, JudgementRow
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.observations import ObservationStore
from sharc_crawler.testing.stores import capture_row, page_row, visit_row

PAGE, DATA, OTHER = range(3)
URLS = [page_row(PAGE), page_row(DATA, kind=Kind.DATA), page_row(OTHER)]


def captured(at: float, said: str, later: str, *, shown: str = "f", browser: str = "auto", subsites: str = ""):
    """Two pages, one with data that says this at its visit and that at its revisit; the documents stay."""
    told = ((Slot.FIRST, at, said), (Slot.SECOND, at + 10, later))
    visits = []
    for slot, started, data in told:
        for page in (PAGE, DATA, OTHER):
            row = visit_row(page, slot)
            digest = f"sha1:{data}" if page == DATA else "sha1:SHELL"
            outcome = row.outcome._replace(
                started=started, ended=started + 1, digest=digest, fingerprint=shown, location=None, part=False
            )
            if page == PAGE and slot is Slot.SECOND and said == "304":
                outcome = outcome._replace(result=Result.NOT_MODIFIED, status=304, digest=None, fingerprint=None)
            visits.append(row._replace(outcome=outcome))
    same = Verdict.COHERENT, Evidence.BYTES, "equal-bytes"
    other = Verdict.CHANGED, Evidence.BYTES, "other-bytes"
    row = capture_row(phase=Phase.DONE, reference=at + 5, ended=at + 12)
    spec = replace(row.spec, settings={"browser": browser}, subsites=subsites)
    store = MemoryStore()
    store.commit(
        Batch(
            pages=URLS,
            visits=visits,
            judgements=[
                JudgementRow(PAGE, *same),
                JudgementRow(DATA, *(same if said == later else other)),
                JudgementRow(OTHER, *same),
            ],
            captures={0: row._replace(spec=spec)},
            embeds=[(PAGE, DATA)],
        )
    )
    return store


def learned(*stores) -> tuple[list[Change], list[int]]:
    """Of the page with data: what is noted of each download, and what rates are made from."""
    with ObservationStore(":memory:") as history:
        for store in stores:
            remember(store, history)
        noted = {url.key: [] for url in URLS}
        for one in history.observations("site"):
            noted[one.url].append(one.change)
        known = history.histories("site")
        assert Change.CHANGED not in noted[URLS[OTHER].key], "it has no data"
        place = known.urls.index(URLS[PAGE].key)
        return noted[URLS[PAGE].key], known.changed[known.offsets[place] : known.offsets[place + 1]].tolist()[1:]


NEW, SAME, OLD = Change.UNKNOWN, Change.UNCHANGED, Change.CHANGED


@pytest.mark.parametrize("said", ["1", "304"])
def test_between_visit_and_revisit(said):
    assert learned(captured(0, said, "2")) == ([NEW, OLD], [CHANGED])
    assert learned(captured(0, said, said)) == ([NEW, SAME], [UNCHANGED])


def test_since_the_capture_before():
    assert learned(captured(0, "1", "1"), captured(100, "1", "1"))[0] == [NEW, SAME, SAME, SAME]
    noted, rated = learned(captured(0, "1", "1"), captured(100, "2", "2", shown="g"))
    assert (noted, rated) == ([NEW, SAME, OLD, SAME], [UNCHANGED, CHANGED, UNCHANGED])
    noted, rated = learned(captured(0, "1", "1"), captured(100, "2", "2"))
    assert (noted, rated) == ([NEW, SAME, OLD, SAME], [UNCHANGED] * 3), "what is shown is as it was"


def test_data_that_is_judged_around_another_instant_tells_nothing():
    assert learned(captured(0, "1", "2", subsites="path"))[0] == [NEW, SAME]
