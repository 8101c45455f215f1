"""What is known of a page whose true changes are known, with those of its data."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from sharc_crawler.evidence.data import DataState
from sharc_crawler.evidence.facts import PageFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.truth import with_data
from sharc_crawler.model import Judgement, Kind, Url, Verdict

SEEN = Judgement(Verdict.COHERENT, Evidence.BYTES, "")
PAGE = PageFacts(Url("http://h.example/"), Kind.PAGE, "link", 0, 0.1, "sitemap", verdict=Verdict.COHERENT)
INSTANTS = st.lists(st.integers(0, 6), max_size=3)
DATA = st.tuples(st.none() | INSTANTS, st.tuples(st.integers(0, 6), st.integers(0, 6)))


@given(st.booleans(), st.none() | INSTANTS, st.lists(DATA, max_size=3))
def test_a_page_stayed_if_its_document_and_all_its_data_did_and_is_unknown_with_unknown_data(same, own, data):
    known = [(changes, DataState(SEEN, None, downloads)) for changes, downloads in data]
    page = replace(PAGE, truth=same, true_changes=own)
    found = with_data(page, known)
    if any(changes is None for changes, _ in data):
        assert found == replace(page, truth=None)
        return
    states = [[sum(one <= at for one in changes) for at in downloads] for changes, downloads in data]
    assert found.truth is (same and all(first == last for first, last in states))
    assert found.true_changes == tuple(sorted([*(own or ()), *(one for changes, _ in data for one in changes)]))
