"""Captures on the server's word: audits find who lies, and take back what was claimed."""

from __future__ import annotations

from collections import Counter
from email.utils import formatdate

import pytest

from sharc_crawler.evidence.audit import Sampled, Stratum, bound
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Hints, Result, Slot, Validators, Verdict
from tests.frontier.modes.attesting import ROOT, SKEW, START, TOOK, Site, capture, check


def test_liars_are_found_where_they_change_and_only_their_class_loses_its_claims():
    site = Site(3, pages=60, rate=2e-3, liars="a/")
    state = capture(site, audit=0.5)
    found = check(site, state, honest=False)
    (row,) = state.captures.values()
    strata = {one["label"]: one for one in row.audit["strata"]}
    assert strata["/a/*.html"]["caught"] > 0 == strata["/a/*.html"]["claimed"]
    assert strata["/b/*.html"]["caught"] == 0 < strata["/b/*.html"]["claimed"]
    claimed = {
        state.pages[j.page].url
        for j in state.judgements
        if j.evidence is Evidence.ATTESTED and j.verdict is Verdict.COHERENT
    }
    assert claimed
    assert all("/b/" in url for url in claimed)
    assert found["coherent", "attested", False] == 0
    assert row.audit["lies"] <= row.audit["changed"] <= row.audit["audited"]


@pytest.mark.slow
def test_one_lie_is_enough_and_nothing_shows_before_t_which_pages_are_drawn():
    site = Site(3, pages=80, rate=0.05, liars="a/")
    for times in list(site.changes.values())[1::2]:
        del times[1:]  # the others never change
    state = capture(site, audit=0.01)
    (row,) = state.captures.values()
    visits = sorted((v for v in state.visits if v.finished), key=lambda v: v.outcome.started)
    urls = [(v.slot, state.pages[v.page].url, v.outcome.started) for v in visits]
    audited = [url for slot, url, at in urls if slot is Slot.SECOND and at > row.reference and url in site.changes]
    kinds = Counter(url.removeprefix(ROOT)[0] for url in audited)
    assert kinds == {"a": 1, "b": 5}
    order = [url for slot, url, _ in urls if slot is Slot.ONLY and url in site.changes]
    unaudited = capture(site, audit=0.0)
    before = sorted((v for v in unaudited.visits if v.finished), key=lambda v: v.outcome.started)
    shown = [unaudited.pages[v.page].url for v in before if v.slot is Slot.ONLY]
    assert [url for url in shown if url in site.changes] == order, "as if there were no audit"
    assert check(site, state, honest=False)["coherent", "attested", False] == 0


def test_without_an_audit_liars_are_believed_and_the_bound_says_so():
    site = Site(3, pages=60, rate=2e-3, liars="a/")
    state = capture(site, audit=0.0)
    found = check(site, state, honest=False)
    assert found["coherent", "attested", False] > 0
    (row,) = state.captures.values()
    assert row.audit["audited"] == 0
    assert row.audit["bound"] == row.audit["claimed"]


@pytest.mark.parametrize(("pages", "audited"), [(30, 4), (80, 10)])
def test_an_audit_is_of_five_pages_of_each_kind_or_of_an_eighth_of_small_ones(pages, audited):
    (row,) = capture(Site(5, pages=pages), audit=0.0001).captures.values()
    assert row.audit["audited"] == audited


class WithHeader(Site):
    """Pages say themselves when they changed; the sitemap stands still."""

    def answer(self, fetch, now):
        outcome, links = super().answer(fetch, now)
        if fetch.url in self.changes:
            last = formatdate(self.last(fetch.url, now + TOOK / 2, honest=True) + SKEW, usegmt=True)
            outcome = outcome._replace(validators=Validators(None, last))
        return outcome, links


@pytest.mark.slow
def test_a_header_that_belies_the_sitemap_is_a_lie():
    site = WithHeader(6, pages=60, rate=2e-3, liars="a/")
    state = capture(site, audit=0.0)
    (row,) = state.captures.values()
    caught = {one["label"]: one["caught"] for one in row.audit["strata"]}
    assert caught["/a/*.html"] > 0
    assert caught["/b/*.html"] == 0
    assert check(site, state, honest=False)["coherent", "attested", False] == 0


class Unmodified(Site):
    """Lastmods that say nothing, so that pages are visited twice; to each revisit of a folder 304, whatever changed."""

    def sitemap(self, now):
        return [one._replace(hints=Hints(START - 1000.0, 1.0)) for one in super().sitemap(now)]

    def answer(self, fetch, now):
        outcome, links = super().answer(fetch, now)
        if fetch.url in self.changes:
            lies = fetch.url.startswith(f"{ROOT}a/")
            told = Validators(f'"{fetch.url}"' if lies else f'"{self.last(fetch.url, now + TOOK / 2)}"')
            same = fetch.validators == told
            state = {"result": Result.NOT_MODIFIED, "status": 304, "digest": None} if same else {}
            outcome = outcome._replace(validators=told, **state)
        return outcome, links


@pytest.mark.slow
def test_304s_are_audited_as_without_lastmods_cut_off_or_not():
    site = Unmodified(3, pages=100, rate=1e-3)
    audits = []
    for cuts in ((), (130,), (190, 20)):
        state = capture(site, audit=0.02, cuts=cuts)
        found = check(site, state, honest=False)
        assert found["coherent", "validator", False] == 0 < found["coherent", "validator", True]
        (row,) = state.captures.values()
        audits.append(row.audit)
    liars, honest = (one for one in audits[0]["strata"] if one["of"] == "304")
    assert (liars["label"], liars["claimed"], liars["caught"] > 0) == ("/a/*.html", 0, True)
    assert (honest["label"], honest["confirmed"] > 0, honest["caught"]) == ("/b/*.html", True, 0)
    assert audits[0]["claimed"] == found["coherent", "validator", True]
    kept = Stratum(audits[0]["claimed"], honest["confirmed"], chance=5 / site.pages * 2)
    assert audits[0]["bound"] == bound(Sampled([kept], caught=1, watched=True))
