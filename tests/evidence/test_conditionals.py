"""What a 304 is worth."""

from __future__ import annotations

import pytest

from sharc_crawler.evidence import audit
from sharc_crawler.evidence.audit import Sampled, Stratum
from sharc_crawler.evidence.conditionals import Conditionals
from sharc_crawler.evidence.judgement import Revisits
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.worded import code
from sharc_crawler.model import Judgement, Outcome, Result, Validators, Verdict

URLS = {n: f"http://h.example/{'news' if n < 50 else 'list'}/{n}.html" for n in range(100)}
CHANCE = 0.1  #: five of fifty
SEED = 153  #: of lots by which five of either kind are drawn, and of thirty others
ETAG = Validators('"1"')
TOLD = Judgement(Verdict.COHERENT, Evidence.VALIDATOR, Reason.NOT_MODIFIED)


def bound(kept: list[Stratum], caught: int = 0) -> int:
    watched = [one._replace(chance=CHANCE) for one in kept]
    return audit.bound(Sampled(watched, caught, watched=True))


def capture(
    lying: range,
    told: Validators = ETAG,
    changed: range = range(0),
    now: Validators | None = None,
    bare: Validators | None = None,
    share: float = 0.02,
) -> tuple[Conditionals, dict[int, bool]]:
    """Pages in ``lying`` change and say 304 all the same, those in ``changed`` change and say so.

    ``now``: the validators of what has changed; ``bare``: those of a 304.
    """
    revisits, conditionals = Revisits(), Conditionals(share)
    conditionals.draw(URLS, seed=SEED)
    left = {}
    for page, url in URLS.items():
        visit = Outcome(Result.OK, 1.0, 2.0, 200, "sha1:A", validators=told)
        other = page in lying or page in changed
        full = Outcome(Result.OK, 8.0, 9.0, 200, "sha1:B" if other else "sha1:A", validators=told)
        if page in changed:
            full = full._replace(validators=Validators('"2"'))
        elif page in lying and now:
            full = full._replace(validators=now)
        revisit = Outcome(Result.NOT_MODIFIED, 7.0, 7.5, 304, validators=told if bare is None else bare, date=7.0)
        if page in changed or conditionals.asks_again(page, revisit):
            revisit = full
        left[page] = conditionals.revisited(page, visit, revisit, revisits.judge(url, visit, revisit, 5.0))
    return conditionals, left


def test_of_every_kind_a_sample_of_304s_is_downloaded_once_more() -> None:
    conditionals, left = capture(range(0))
    assert len(conditionals.drawn) == 10
    assert {page for page, open_ in left.items() if not open_} == conditionals.drawn
    assert all(one.verdict is Verdict.COHERENT for one in conditionals.judge(URLS).values())
    found = conditionals.summary()
    assert found is not None
    assert (found["claimed"], found["audited"], found["changed"], found["lies"], found["unaudited"]) == (
        90,
        10,
        0,
        0,
        0,
    )
    assert 0 < found["bound"] < 46


@pytest.mark.parametrize("copied", [False, True])
def test_where_one_that_was_drawn_is_refused_in_full_or_comes_from_a_cache_the_bound_is_wider(copied) -> None:
    """A server may refuse just what has changed, a cache may hold just that."""
    revisits, conditionals = Revisits(), Conditionals(share=0.02)
    refused = min(conditionals.draw(URLS, seed=SEED))
    for page, url in URLS.items():
        visit = Outcome(Result.OK, 1.0, 2.0, 200, "sha1:A", validators=ETAG)
        revisit = Outcome(Result.NOT_MODIFIED, 7.0, 7.5, 304, validators=ETAG, date=7.0)
        if conditionals.asks_again(page, revisit):
            revisit = Outcome(Result.OK, 8.0, 9.0, 200, "sha1:A", validators=ETAG)
            if page == refused and copied:
                revisit = revisit._replace(age=300.0)
            elif page == refused:
                revisit = Outcome(Result.REFUSED, 8.0, 9.0, 403)
        conditionals.revisited(page, visit, revisit, revisits.judge(url, visit, revisit, 5.0))
    found = conditionals.summary()
    assert found is not None
    assert found["bound"] == bound([Stratum(45, 4, 1), Stratum(45, 5)])
    assert found["bound"] > bound([Stratum(45, 5), Stratum(45, 5)]), "it may be one that changed"
    assert (found["audited"], found["unshown"]["lost"]) == (9, 1)
    sums = dict.fromkeys(("claimed", "audited", "changed", "lies", "unaudited"), 0)
    joined = conditionals.beside({**sums, "unshown": {"since": 2, "lost": 3}, "strata": []}, Sampled([]))
    assert joined["unshown"] == {"since": 2, "lost": 4}


@pytest.mark.parametrize(
    ("others", "alike", "evidence"),
    [(2, True, Evidence.WEAK_VALIDATOR), (3, True, Evidence.NONE), (5, True, Evidence.NONE), (1, False, Evidence.NONE)],
)
def test_other_bytes_of_one_content_are_no_lie_and_no_proof(others, alike, evidence) -> None:
    """What is no content to us may be what a page shows: a script's data, what a mask hides."""
    revisits, conditionals = Revisits(), Conditionals(share=0.02)
    drawn = conditionals.draw(URLS, seed=SEED)
    noisy = sorted(page for page in drawn if page >= 50)[:others]
    for page, url in URLS.items():
        visit = Outcome(Result.OK, 1.0, 2.0, 200, "sha1:A", validators=ETAG)
        revisit = Outcome(Result.NOT_MODIFIED, 8.0, 9.0, 304, validators=ETAG)
        if page in drawn:
            assert conditionals.asks_again(page, revisit)
            revisit = Outcome(Result.OK, 8.0, 9.0, 200, "sha1:B" if page in noisy else "sha1:A", validators=ETAG)
        conditionals.revisited(page, visit, revisit, revisits.judge(url, visit, revisit, 5.0), alike=alike)
    judged = conditionals.judge(URLS)
    assert {one.evidence for page, one in judged.items() if page < 50} == {Evidence.VALIDATOR}
    assert {one.evidence for page, one in judged.items() if page >= 50} == {evidence}
    found = conditionals.summary()
    assert found["lies"] == found["changed"] == (0 if alike else others)
    assert (found["audited"], found["unshown"]["alike"]) == (10, others if alike else 0)
    if alike:
        claimed = 45 if evidence is Evidence.WEAK_VALIDATOR else 0
        assert found["bound"] == bound([Stratum(45, 5), Stratum(claimed, 5 - others, others)])


def test_a_kind_that_lies_bears_no_claim_and_the_others_do() -> None:
    conditionals, _ = capture(range(50, 100))
    judged = conditionals.judge(URLS)
    assert {code(one.reason) for page, one in judged.items() if page >= 50} == {Reason.NOT_MODIFIED_DOUBTED}
    assert {one.evidence for page, one in judged.items() if page < 50} == {Evidence.VALIDATOR}
    found = conditionals.summary()
    assert found is not None
    assert found["claimed"] == 45
    assert found["lies"] == 5
    assert found["bound"] == bound([Stratum(45, 5)], caught=1) == 45, "more than where none was caught"
    assert bound([Stratum(45, 5)]) == 30
    caught = {one["label"]: bool(one["caught"]) for one in found["strata"]}
    assert caught == {"/list/*.html": True, "/news/*.html": False}


def test_a_change_that_a_server_owns_up_to_when_it_is_asked_says_nothing_against_its_304s() -> None:
    conditionals, _ = capture(range(0), changed=range(50, 60))
    judged = conditionals.judge(URLS)
    assert {page for page in URLS if page >= 60} - conditionals.drawn <= judged.keys()
    assert {one.verdict for one in judged.values()} == {Verdict.COHERENT}
    assert (conditionals.summary()["lies"], conditionals.summary()["unshown"]["since"]) == (0, 0)


@pytest.mark.parametrize("lying", [(), (3, 4, 5)])
def test_pages_that_share_an_etag_are_believed_or_doubted_together_wherever_they_are(lying: tuple[int, ...]) -> None:
    """Its liars are all in one folder; what it says of another is worth no more, and never counts as a strong one."""
    shared = {*range(30), *range(50, 80)}
    revisits, conditionals = Revisits(), Conditionals(share=1.0)
    assert conditionals.draw(URLS, seed=SEED, faint=shared) == set(URLS)
    for page, url in URLS.items():
        visit = Outcome(Result.OK, 1.0, 2.0, 200, "sha1:A", validators=ETAG)
        revisit = Outcome(Result.NOT_MODIFIED, 7.0, 7.5, 304, validators=ETAG, date=7.0)
        if page in lying:
            assert conditionals.asks_again(page, revisit)
            revisit = Outcome(Result.OK, 8.0, 9.0, 200, "sha1:B", validators=ETAG)
        conditionals.revisited(page, visit, revisit, revisits.judge(url, visit, revisit, 5.0))
    judged = conditionals.judge(URLS)
    expected = Evidence.NONE if lying else Evidence.WEAK_VALIDATOR
    assert {one.evidence for page, one in judged.items() if page in shared} == {expected}
    assert {one.evidence for page, one in judged.items() if page not in shared} == {Evidence.VALIDATOR}


@pytest.mark.parametrize("bare", [Validators(), ETAG])
def test_a_server_that_says_304_to_any_condition_is_not_believed_though_its_etags_are_honest(bare: Validators) -> None:
    """Those who were told 304 differ just after it; whether they changed in between, nothing says."""
    conditionals, _ = capture(range(50, 100), now=Validators('"2"'), bare=bare)
    judged = conditionals.judge(URLS)
    assert {code(one.reason) for page, one in judged.items() if page >= 50} == {Reason.NOT_MODIFIED_DOUBTED}
    assert all(
        str(one.reason).endswith("(5 changed just before it or since, more than stayed)")
        for page, one in judged.items()
        if page >= 50
    )
    assert (conditionals.summary()["lies"], conditionals.summary()["unshown"]["since"]) == (0, 5)


@pytest.mark.parametrize("result", [Result.GONE, Result.REDIRECTED, Result.FAILED])
def test_a_304_of_what_is_gone_or_elsewhere_just_after_it_bears_no_claim_and_is_no_lie(result: Result) -> None:
    revisits, conditionals = Revisits(), Conditionals(share=0.02)
    conditionals.draw(URLS, seed=SEED)
    for page, url in URLS.items():
        visit = Outcome(Result.OK, 1.0, 2.0, 200, "sha1:A", validators=ETAG)
        revisit = Outcome(Result.NOT_MODIFIED, 7.0, 7.5, 304, validators=ETAG, date=7.0)
        if conditionals.asks_again(page, revisit):
            full = Outcome(Result.OK, 8.0, 9.0, 200, "sha1:A", validators=ETAG)
            revisit = Outcome(result, 8.0, 9.0, 404, location="http://h.example/login") if page >= 50 else full
        conditionals.revisited(page, visit, revisit, revisits.judge(url, visit, revisit, 5.0))
    gone = 0 if result is Result.FAILED else 5
    found = conditionals.summary()
    assert found is not None
    assert (found["audited"], found["changed"], found["unshown"]["since"], found["lies"]) == (5 + gone, gone, gone, 0)
    assert found["claimed"] == (90 if not gone else 45)


def test_who_changed_after_its_304_and_says_so_does_not_lie() -> None:
    at = [f"Thu, 01 Jan 1970 00:00:0{second} GMT" for second in range(10)]
    for second, lies in ((8, 0), (4, 5)):
        told = Validators('"1"', at[1])
        conditionals, _ = capture(range(50, 100), told, now=Validators('"2"', at[second]))
        conditionals.judge(URLS)
        found = conditionals.summary()
        assert (found["lies"], found["unshown"]["since"]) == (lies, 5 - lies)
        assert found["claimed"] == 45, "none of a kind of which no drawn page was as the 304 said"
        assert found["bound"] == bound([Stratum(45, 5)], caught=1)


def test_where_some_of_a_kind_changed_since_the_others_are_claimed_within_a_wider_bound() -> None:
    at = [f"Thu, 01 Jan 1970 00:00:0{second} GMT" for second in range(10)]
    all_drawn = Conditionals(share=0.2).draw(URLS, seed=SEED)
    drawn = sorted(page for page in all_drawn if page >= 50)
    assert len(drawn) == 11
    for changed, claimed in ((2, 39), (5, 39), (6, 0)):
        conditionals, _ = capture(drawn[:changed], Validators('"1"', at[1]), now=Validators('"2"', at[8]), share=0.2)
        judged = conditionals.judge(URLS)
        assert sum(one.verdict is Verdict.COHERENT for page, one in judged.items() if page >= 50) == claimed
        found = conditionals.summary()
        kept = [(50 - len(all_drawn) + 11, 9), (claimed, 11 - changed, changed)]
        told = [Stratum(*one, chance=0.2) for one in kept]
        assert found["bound"] == audit.bound(Sampled(told, watched=True))


def test_a_304_that_nobody_asked_for_is_a_lie() -> None:
    conditionals = Conditionals(share=0.02)
    conditionals.draw(URLS, seed=SEED)
    visit = Outcome(Result.OK, 1.0, 2.0, 200, "sha1:A", validators=ETAG)
    told = Outcome(Result.NOT_MODIFIED, 7.0, 7.5, 304)
    page = min(conditionals.drawn)
    assert conditionals.asks_again(page, told)
    assert not conditionals.asks_again(page, told)
    unasked = Revisits().judge(URLS[page], visit._replace(validators=Validators()), told, 5.0)
    assert not conditionals.revisited(page, visit, told, unasked)
    assert conditionals.summary() is None
    assert conditionals.revisited(40, visit, told, Revisits().judge(URLS[40], visit, told, 5.0))
    assert conditionals.judge(URLS)[40].verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("told", [Validators('W/"1"'), Validators(None, "Wed, 18 Nov 2026 10:00:00 GMT")])
def test_weak_validators_that_miss_changes_do_not_lie_and_bear_no_claim(told: Validators) -> None:
    conditionals, _ = capture(range(50, 100), told)
    judged = conditionals.judge(URLS)
    assert {code(one.reason) for page, one in judged.items() if page >= 50} == {Reason.NOT_MODIFIED_DOUBTED}
    assert {one.evidence for page, one in judged.items() if page < 50} == {Evidence.WEAK_VALIDATOR}
    found = conditionals.summary()
    assert found is not None
    assert (found["claimed"], found["lies"], found["changed"]) == (45, 0, 5)
    assert found["bound"] == 45


def test_a_page_that_changed_and_says_so_is_no_lie() -> None:
    conditionals, left = capture(range(0), changed=range(50, 100))
    found = conditionals.summary()
    assert found is not None
    assert (found["claimed"], found["lies"]) == (45, 0)
    assert not any(left[page] for page in range(50, 100))


def test_beside_an_audit_of_lastmods_both_are_told_under_one_bound() -> None:
    conditionals, _ = capture(range(50), told=Validators('W/"1"'))
    own = conditionals.summary()
    other = {
        "of": "lastmod",
        "claimed": 7,
        "audited": 3,
        "changed": 2,
        "lies": 1,
        "unshown": {"since": 1, "lost": 2},
        "unaudited": 4,
        "bound": 5,
        "strata": [{"of": "lastmod", "label": "x"}],
        "lag": 60.0,
    }
    lastmods = Sampled([Stratum(40, 5)], 1)
    both = conditionals.beside(other, lastmods)
    for name in ("claimed", "audited", "changed", "lies", "unaudited"):
        assert both[name] == other[name] + own[name]
    for why in ("since", "lost"):
        assert both["unshown"][why] == other["unshown"][why] + own["unshown"][why]
    assert both["strata"] == other["strata"] + own["strata"]
    assert (both["of"], both["lag"]) == ("lastmod", 60.0)
    mine = Sampled([Stratum(45, 5, chance=CHANCE)], 1, watched=True)
    assert both["bound"] == audit.bound(lastmods, mine), "one kind was caught here, another there"
    assert Conditionals(share=0.02).beside(other, lastmods) is other, "nothing was claimed on a 304"


def test_what_scripts_of_pages_fetch_is_told_apart() -> None:
    for data, told in ((frozenset(), None), (frozenset({1, 2, 3}), 3)):
        conditionals = Conditionals(share=0.02)
        conditionals.draw(URLS, seed=SEED, data=data)
        drawn = conditionals.drawn
        for page in URLS.keys() - drawn:
            conditionals.revisited(page, Outcome(Result.OK, 1.0, 2.0), Outcome(Result.NOT_MODIFIED, 7.0, 7.5), TOLD)
        found = conditionals.summary()
        assert found.get("data") == (told and told - len(drawn & data))
        both = conditionals.beside({**found, "strata": []}, Sampled([]))
        assert both.get("data") == found.get("data")


def test_without_a_sample_nothing_is_bounded() -> None:
    conditionals = Conditionals(share=0.0)
    assert conditionals.draw(URLS, seed=1) == set()
    assert conditionals.summary() is None


def test_classes_too_small_for_a_sample_of_their_own_are_not_audited_unless_one_of_them_was() -> None:
    """They share one sample, and it can miss a class."""
    urls = {n: f"http://h.example/{n}/a.html" for n in range(30)}
    revisits, conditionals = Revisits(), Conditionals(share=0.02)
    drawn = conditionals.draw(urls, seed=SEED)
    for page, url in urls.items():
        visit = Outcome(Result.OK, 1.0, 2.0, 200, "sha1:A", validators=ETAG)
        status = (Result.OK, 8.0, 9.0, 200, "sha1:A") if page in drawn else (Result.NOT_MODIFIED, 8.0, 9.0, 304)
        revisit = Outcome(*status, validators=ETAG)
        assert (page in drawn) == conditionals.asks_again(page, revisit)
        conditionals.revisited(page, visit, revisit, revisits.judge(url, visit, revisit, 5.0))
    found = conditionals.summary()
    assert (found["claimed"], found["audited"], found["unaudited"]) == (25, 5, 25)


class Told:
    """Pages of two kinds that are answered 304, one by one; a drawn one is then downloaded in full."""

    def __init__(self, validators: Validators = ETAG) -> None:
        self.found, self.revisits = Conditionals(share=0.02), Revisits()
        self.visit = Outcome(Result.OK, 1.0, 2.0, 200, "sha1:A", validators=validators)
        self.drawn = {kind: sorted(page for page in self.found.draw(URLS, seed=SEED) if (page < 50) is kind)
                      for kind in (True, False)}  # fmt: skip
        self.others = sorted(URLS.keys() - {*self.drawn[True], *self.drawn[False]})

    def revisit(self, page: int, shows: Outcome | None = None, *, alike: bool = False) -> None:
        """``shows``: in full, after a 304."""
        told = Outcome(Result.NOT_MODIFIED, 7.0, 7.5, 304, validators=self.visit.validators, date=7.0)
        if shows is not None:
            assert self.found.asks_again(page, told)
        revisit = told if shows is None else shows
        judgement = self.revisits.judge(URLS[page], self.visit, revisit, 5.0)
        self.found.revisited(page, self.visit, revisit, judgement, alike=alike)


OTHER = Outcome(Result.OK, 8.0, 9.0, 200, "sha1:B", validators=ETAG)
WEAK = Validators('W/"1"')


@pytest.mark.parametrize(
    ("validators", "alike", "verdict"),
    [(ETAG, False, Verdict.UNKNOWN), (WEAK, False, Verdict.UNKNOWN), (ETAG, True, Verdict.UNKNOWN)],
)
def test_of_a_kind_that_is_doubted_since_then_what_was_judged_before_is_judged_again(
    validators, alike, verdict
) -> None:
    site = Told(validators)
    for page in site.others:
        site.revisit(page)
    assert {one.verdict for one in site.found.judge(site.others).values()} == {Verdict.COHERENT}
    assert site.found.judge([]) == {}
    site.revisit(site.drawn[True][0], OTHER._replace(validators=validators), alike=alike)
    again = site.found.judge([])
    assert set(again) == {page for page in site.others if page < 50}
    assert {(one.verdict, one.evidence is Evidence.VALIDATOR) for one in again.values()} == {(verdict, False)}
    assert site.found.judge([]) == {}, "it was doubted before"


def test_lies_and_what_weak_validators_missed_are_told_apart() -> None:
    site = Told(WEAK)
    for page in site.others:
        site.revisit(page)
    one, two, *_ = site.drawn[True]
    site.revisit(one, OTHER._replace(validators=WEAK))
    site.visit = site.visit._replace(validators=ETAG)
    site.revisit(two, OTHER)
    why = {str(judgement.reason) for page, judgement in site.found.judge(site.others).items() if page < 50}
    assert len(why) == 1
    assert why.pop().endswith("(1 caught lying, 1 changed, with the same weak validators)")


@pytest.mark.parametrize(("modified", "lies"), [(4, 1), (5, 0), (6, 0), (None, 0)])
def test_a_page_that_may_have_changed_since_its_304_does_not_lie(modified: int | None, lies: int) -> None:
    """Both times are cut to the second: of two seconds nobody can tell."""
    site = Told()
    site.revisit(site.others[0])
    said = None if modified is None else f"Thu, 01 Jan 1970 00:00:0{modified} GMT"
    site.revisit(site.drawn[True][0], OTHER._replace(validators=Validators('"2"', said)))
    found = site.found.summary()
    assert found is not None
    assert (found["lies"], found["unshown"]["since"]) == (lies, 1 - lies)


def test_a_weak_validator_that_changed_with_the_page_has_missed_nothing() -> None:
    """It was edited just after its 304; or just before, as nobody can tell."""
    site = Told(WEAK)
    for page in [*site.others, *site.drawn[True][1:]]:
        site.revisit(page, None if page in site.others else OTHER._replace(digest="sha1:A", validators=WEAK))
    site.revisit(site.drawn[True][0], OTHER._replace(validators=Validators('W/"2"')))
    assert {one.verdict for one in site.found.judge(site.others).values()} == {Verdict.COHERENT}
    found = site.found.summary()
    assert (found["lies"], found["unshown"]["since"], found["claimed"]) == (0, 1, len(site.others))
    kinds = [Stratum(45, 4, 1, chance=CHANCE), Stratum(45, 0, chance=CHANCE)]
    assert found["bound"] == audit.bound(Sampled(kinds, watched=True))


def test_what_was_asked_for_after_a_304_is_audited_and_nothing_else() -> None:
    conditionals, _ = capture(range(0), changed=range(20))
    found = conditionals.summary()
    assert found is not None
    assert found["audited"] == len([page for page in conditionals.drawn if page >= 20])
    assert found["changed"] == 0


@pytest.mark.parametrize(("since", "verdict"), [(2, Verdict.COHERENT), (3, Verdict.UNKNOWN)])
def test_a_kind_is_claimed_unless_more_of_its_drawn_pages_changed_since_than_stayed(since, verdict) -> None:
    site = Told()
    for page in site.others:
        site.revisit(page)
    for place, page in enumerate(site.drawn[True][:4]):
        stayed = OTHER._replace(digest="sha1:A")
        site.revisit(page, OTHER._replace(validators=Validators('"2"')) if place < since else stayed)
    assert {one.verdict for page, one in site.found.judge(site.others).items() if page < 50} == {verdict}


@pytest.mark.parametrize(
    ("modified", "lies"), [("Wed, 18 Nov 2026 10:00:00 GMT", 1), ("Wed, 18 Nov 2026 11:00:00 GMT", 0)]
)
def test_without_an_etag_the_same_last_modified_beside_other_bytes_is_a_lie(modified, lies) -> None:
    site = Told(Validators(None, "Wed, 18 Nov 2026 10:00:00 GMT"))
    site.visit = site.visit._replace(date=1.8e9)
    site.revisit(site.others[0])
    site.revisit(site.drawn[True][0], OTHER._replace(validators=Validators(None, modified)))
    assert len(site.found._lies) == lies
