"""Captures on the server's word: what is claimed by it, and which pages are downloaded all the same."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Fetch, Kind, Outcome, Result, Sighting, Validators, Verdict
from sharc_crawler.report.load import capture_facts
from sharc_crawler.storage.memory import MemoryStore
from tests.frontier.modes.attesting import SKEW, START, TOOK, Site, capture, check


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.integers(0, 10_000),
    st.sampled_from([0.0, 1e-3, 1e-2]),
    st.sampled_from([1, 2]),
    st.sampled_from([0.0, 0.1, 1.0]),
    st.lists(st.integers(1, 60), max_size=3),
)
def test_no_page_of_an_honest_site_is_wrongly_claimed(seed, rate, visits, audit, cuts):
    site = Site(seed, rate=rate)
    state = capture(site, visits, audit, tuple(cuts))
    found = check(site, state)
    assert sum(found.values()) == site.pages
    (row,) = state.captures.values()
    assert sum(one["caught"] for one in row.audit["strata"]) == 0, "an honest site is not called a liar"
    if rate == 0:
        assert set(found) <= {("coherent", "attested", True), ("coherent", "bytes", True), ("unknown", "none", True)}
        assert cuts or found["unknown", "none", True] == 0


def test_a_bare_date_of_today_attests_nothing_and_its_page_is_compared_by_bytes():
    day = 86_400.0
    site = Site(4, precision=day)
    state = capture(site)
    check(site, state)
    words = {word.page: word.lastmod + word.precision for word in state.lastmods}
    for judgement in state.judgements:
        if judgement.page in words:
            today = words[judgement.page] >= START + SKEW
            assert (judgement.evidence is Evidence.BYTES) or not today
            assert judgement.verdict is Verdict.COHERENT


def test_a_site_whose_lastmods_are_all_equal_is_visited_twice():
    site = Site(5)
    for times in site.changes.values():
        times[:] = [START - 1000.0]
    state = capture(site)
    found = check(site, state)
    assert set(found) == {("coherent", "bytes", True)}
    (row,) = state.captures.values()
    assert [one["reason"] for one in row.audit["classes"]] == ["nearly all values are equal"] * 2
    store = MemoryStore()
    store.commit(state)
    notes = [note for note in capture_facts(store)[0].notes if note.startswith("lastmods")]  # its clock is off, too
    assert [note.partition(" (")[0] for note in notes] == [
        f"lastmods of {one['label']} not believed" for one in row.audit["classes"]
    ]
    assert all("nearly all values are equal. Their pages are therefore visited twice" in note for note in notes)


class Illustrated(Site):
    """Every page embeds a picture."""

    def answer(self, fetch: Fetch, now: float) -> tuple[Outcome, list[Sighting]]:
        if fetch.kind is not Kind.RESOURCE:
            outcome, links = super().answer(fetch, now)
            return outcome, [
                *links,
                Sighting(fetch.url + ".png", Kind.RESOURCE),
            ] if fetch.url in self.changes else links
        made = now + TOOK / 2
        return Outcome(Result.OK, now, now + TOOK, status=200, digest="sha1:png", date=(made + SKEW) // 1), []


def test_what_pages_embed_is_downloaded_twice_around_t():
    site = Illustrated(pages=12)
    state = capture(site)
    (row,) = state.captures.values()
    pictures = {page.page for page in state.pages if page.kind is Kind.RESOURCE}
    assert len(pictures) == site.pages
    before = Counter(v.page for v in state.visits if v.page in pictures and v.outcome.ended <= row.reference)
    after = Counter(v.page for v in state.visits if v.page in pictures and v.outcome.started >= row.reference)
    assert before == after == dict.fromkeys(pictures, 1)
    assert {one.verdict for one in state.judgements if one.page in pictures} == {Verdict.COHERENT}


def test_pages_are_downloaded_whatever_validators_a_former_capture_had():
    asked = []

    class Watched(Site):
        def answer(self, fetch, now):
            asked.append(fetch)
            return super().answer(fetch, now)

    capture(Watched(5, pages=12), former=lambda _, url: Validators('"former"'))
    assert any(fetch.kind is Kind.PAGE for fetch in asked)
    assert not any(fetch.validators for fetch in asked)
