"""All that is said of pages together, counted anew page by page: a population of every kind, verdict and history."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from itertools import product

import pytest

from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, SubsiteFacts, VisitFacts, each_part
from sharc_crawler.evidence.figures import COPIED, copies, why_not
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.instants import iso
from sharc_crawler.model import EMBEDDED, Kind, Plan, Result, Slot, Url, Verdict

T = 1.7e9
HOW = (None, Result.OK, Result.NOT_MODIFIED, Result.GONE, Result.REDIRECTED, Result.FAILED)
PARTS = {"": T, "a": T + 50.0, "b": None}


def visited(slot: Slot, result: Result, at: float, draw: random.Random) -> VisitFacts:
    digest = draw.choice(["sha1:A", "sha1:B", None]) if result is Result.OK else None
    error = "no answer" if result is Result.FAILED else None
    return VisitFacts(slot, result, at, at + draw.random(), digest=digest, attempts=draw.randrange(3), error=error)


def population() -> tuple[PageFacts, ...]:
    """Four URLs of each kind, verdict, and way its visit and revisit ended; the rest by lot.

    Of fewer none might have a payload that counts: the lots fall otherwise with each new kind of evidence.
    """
    draw, found = random.Random(7), []
    urls = [Url(f"http://h.example/{number}") for number in range(len(Kind) * 4 * len(HOW) * 2 * 4)]
    ways = product(Kind, (*Verdict, None), HOW, (False, True), range(4))
    for url, (kind, verdict, how, again, _) in zip(urls, ways, strict=True):
        visit = how and visited(draw.choice([Slot.FIRST, Slot.ONLY]), how, T - 100 * draw.random(), draw)
        revisit = visited(Slot.SECOND, Result.OK, T + 100 * draw.random(), draw) if again and visit else None
        found.append(
            PageFacts(
                url, kind, "link", draw.randrange(4), draw.random(), draw.choice(["prior", "history"]),
                weight=draw.choice([1.0, 2.0]), plan=draw.choice([None, *Plan]), visit=visit, revisit=revisit,
                verdict=verdict, evidence=draw.choice([*Evidence]) if verdict else None,
                reason=draw.choice(["", "stale"]), subsite=draw.choice([*PARTS]),
                target=draw.choice(urls) if how is Result.REDIRECTED else None,
                truth=draw.choice([None, True, False]), by_script=draw.choice([None, True, False]),
                embeds=tuple(draw.sample(urls, draw.randrange(3))), data=draw.choice([(), (urls[0],)]),
            )
        )  # fmt: skip
    draw.shuffle(found)
    return tuple(found)


PAGES = population()
OF = {page.url: page for page in PAGES}
PROPER = [page for page in PAGES if page.kind is Kind.PAGE]
CAPTURED = [page for page in PROPER if page.verdict]


@pytest.fixture(scope="module")
def made() -> CaptureFacts:
    parts = tuple(SubsiteFacts(name, reference, T - 200, T + 200) for name, reference in PARTS.items())
    return CaptureFacts("h.example", ("http://h.example/0",), "bfs", T - 200, T + 200, T, PAGES, subsites=parts)


def test_urls_rates_scripts_and_payloads_are_those_of_captured_pages(made) -> None:
    figures = made.figures
    assert figures.urls == len(PAGES)
    assert figures.rate_sources == Counter(page.rate_source for page in CAPTURED)
    assert figures.by_script == Counter(page.by_script for page in CAPTURED if page.by_script is not None)
    digests = [page.visit.digest for page in CAPTURED if page.visit and not page.data]
    assert sorted(figures.payloads.values()) == sorted(Counter(filter(None, digests)).values())
    known = [page for page in CAPTURED if page.truth is not None]
    assert figures.truth is not None
    assert figures.truth.totals()["pages"] == len(known)


def test_of_each_plan_the_captured_pages_and_the_coherent_ones_are_counted(made) -> None:
    for plan, found in made.figures.plans.totals().items():
        own = [page.verdict for page in CAPTURED if page.plan is not None and page.plan.value == plan]
        assert found == {"pages": len(own), "coherent": own.count(Verdict.COHERENT)}


def test_judgements_are_held_against_the_truth_where_it_is_known(made) -> None:
    known = [(page.verdict, page.truth) for page in CAPTURED if page.truth is not None]
    found = made.figures.truth.totals()
    assert found["pages"] == len(known)
    assert found["unchanged"] == sum(truth for _, truth in known)
    assert found["agree"] == known.count((Verdict.COHERENT, True)) + known.count((Verdict.CHANGED, False))
    assert replace(made, pages=tuple(replace(page, truth=None) for page in PAGES)).figures.truth is None


def test_what_was_not_captured_is_told_by_kind_and_reason(made) -> None:
    left = [page for page in PAGES if (page.verdict is None or page.absent) and page.kind in (Kind.PAGE, *EMBEDDED)]
    reasons = [
        page.reason or ("no answer" if page.visit and page.visit.result is Result.FAILED else "unvisited")
        for page in left
    ]
    assert [why_not(page) for page in left] == reasons
    kinds = [page.kind for page in left]
    assert made.figures.missing == Counter(zip(kinds, reasons, strict=True))
    targets = {page.url: page.target for page in left if page.target}
    assert {url: target for url, (*_, target) in made.figures.redirects.items()} == targets


def test_what_redirects_to_a_captured_page_at_once_or_over_others_is_not_missing(made) -> None:
    targets = {url: target for url, (*_, target) in made.figures.redirects.items()}

    def leads(url: Url, met: frozenset[Url] = frozenset()) -> bool:
        target = targets.get(url)
        if target is None or url in met:
            return False
        return OF[target].verdict is not None or leads(target, met | {url})

    moved = {url for url in targets if leads(url)}
    assert moved
    assert moved < targets.keys()
    details = made.details
    assert details.redirects == Counter(OF[url].kind for url in moved)
    assert details.missing == made.figures.missing - Counter((OF[url].kind, why_not(OF[url])) for url in moved)
    assert {page.url for page, detail in details.walk() if detail.moved} == moved


@pytest.mark.parametrize("again", [False, True])
def test_the_times_of_visits_are_those_of_requests_that_were_made(made, again) -> None:
    visits = [page.revisit if again else page.visit for page in CAPTURED]
    asked = [visit for visit in visits if visit and visit.attempts]
    first, last = min(visit.started for visit in asked), max(visit.ended for visit in asked)
    found = (made.figures.revisits if again else made.figures.visits).totals()
    assert found == {"from": iso(first), "to": iso(last), "seconds": last - first, "pages": len(asked)}


def test_a_site_is_observed_from_its_first_copy_to_its_last(made) -> None:
    starts = {
        page.url: [
            visit.started
            for visit in (page.visit, page.revisit)
            if visit and visit.attempts and visit.result in (Result.OK, Result.NOT_MODIFIED)
        ]
        for page in PROPER
    }
    assert set(COPIED) == {Result.OK, Result.NOT_MODIFIED}
    assert {page.url: copies(page) for page in PROPER} == {
        url: (min(some), max(some)) if some else None for url, some in starts.items()
    }
    every = [start for some in starts.values() for start in some]
    assert made.figures.observed == (min(every), max(every))


def test_the_parts_hold_their_own_pages_and_together_all(made) -> None:
    whole = made.figures.whole.tally.totals()
    assert whole["known"] == len(PROPER)
    for part, own, sums in each_part(made):
        mine = [page for page in PROPER if page.subsite == part.name]
        found = sums.tally.totals()
        assert found["known"] == len(mine)
        assert found["captured"] == sum(page.verdict is not None for page in mine)
        assert sums.unknown == Counter(page.reason for page in mine if page.verdict is Verdict.UNKNOWN)
        grounds = [page.evidence for page in mine if page.verdict is Verdict.COHERENT]
        assert sums.grounds == Counter(grounds)
        assert (own.reference, own.part, own.pages, own.subsites) == (PARTS[part.name], True, (), ())
        weights = sum(page.weight for page in mine if page.verdict)
        coherent = sum(page.weight for page in mine if page.verdict is Verdict.COHERENT)
        assert found["weighted_share"] == pytest.approx(coherent / weights)
        assert found["share"] == pytest.approx(len(grounds) / found["captured"])
    totals = [sums.tally.totals() for *_, sums in each_part(made)]
    assert [sum(one["coherent"] for one in totals), sum(one["known"] for one in totals)] == [
        whole["coherent"],
        whole["known"],
    ]
    alone = replace(made, subsites=made.subsites[:1])
    assert [own.part for _, own, _ in each_part(alone)] == [False]
    resources = [page for page in PAGES if page.kind in EMBEDDED]
    assert made.figures.resources.totals()["known"] == len(resources)


def test_each_instant_lies_where_all_coherent_pages_and_their_data_are_shown_to_have_stayed(made) -> None:
    for sums, reference, mine in (
        (made.figures.whole, T, PAGES),
        *((made.figures.parts[name], PARTS[name], [page for page in PAGES if page.subsite == name]) for name in PARTS),
    ):
        spans = []
        for page in mine:
            if page.verdict is Verdict.COHERENT and page.kind in (Kind.PAGE, Kind.DATA) and reference is not None:
                times = [visit.started for visit in (page.visit, page.revisit) if visit]
                if page.evidence.dated:  # from its only visit to T; of two, it may be either
                    once = page.visit is not None and page.visit.slot is Slot.ONLY and page.revisit is None
                    times = [reference, page.visit.started if once else reference]
                spans += [(min(times), max(times))] if times else []
        bounds = (
            {"from": iso(max(start for start, _ in spans)), "to": iso(min(end for _, end in spans))} if spans else {}
        )
        assert sums.span() == ({"instant": iso(reference), **bounds} if reference is not None else None)


def embedded_by(page: PageFacts) -> set[Url]:
    """All that it embeds, and what that does."""
    found: set[Url] = set()
    waiting = [*page.embeds]
    while waiting:
        if (url := waiting.pop()) not in found:
            found.add(url)
            waiting += OF[url].embeds
    return found


def is_there(page: PageFacts) -> bool:
    if (page.verdict is not None and not page.absent) or page.visit is None:
        return True
    return page.visit.result not in (Result.REDIRECTED, Result.GONE)


def counts(page: PageFacts) -> bool:
    """Is it there, or was it not when it was asked for, and not for good? Or does it lead to what was not taken in?"""
    return (
        is_there(page) or leads_nowhere(page) or (page.visit is not None and page.visit.status not in (301, 308, 410))
    )


def leads_nowhere(page: PageFacts) -> bool:
    led = page.visit is not None and page.visit.result is Result.REDIRECTED
    return led and not is_there(page) and not page.embeds


def test_a_page_is_as_coherent_as_all_that_it_embeds_around_one_instant(made) -> None:
    expected = {}
    for page in CAPTURED:
        met = [page.verdict]
        for part in filter(counts, map(OF.__getitem__, embedded_by(page))):
            same = PARTS[part.subsite] == PARTS[page.subsite]
            met.append(part.verdict if same and part.verdict and not leads_nowhere(part) else Verdict.UNKNOWN)
        worst = [verdict for verdict in (Verdict.CHANGED, Verdict.UNKNOWN, Verdict.COHERENT) if verdict in met]
        expected[page.url] = worst[0]
    found = {page.url: detail.complete for page, detail in made.details.walk()}
    assert {url: verdict for url, verdict in found.items() if verdict} == expected
    assert made.details.complete == Counter(expected.values())


def leads_on(page: PageFacts) -> bool:
    """What it redirects to was taken in, and counts by itself."""
    redirects = page.visit is not None and page.visit.result is Result.REDIRECTED
    return redirects and bool(page.embeds) and not is_there(page)


def test_what_is_embedded_is_told_by_verdict_and_why_it_is_not_there(made) -> None:
    every = {url for page in PAGES for url in page.embeds}
    there = [OF[url] for url in every if is_there(OF[url])]
    verdicts, reasons = made.figures.completeness.embedded()
    assert verdicts == Counter(page.verdict for page in there)
    met = [OF[url] for url in every if counts(OF[url]) and not leads_on(OF[url])]
    assert reasons == Counter(page.reason for page in met if page.verdict is None or page.absent)


def test_one_of_the_pages_with_the_commonest_payload_is_named(made) -> None:
    alike = OF[made.details.alike]
    digests = Counter(page.visit.digest for page in CAPTURED if page.visit and page.visit.digest and not page.data)
    assert alike in CAPTURED
    assert (alike.visit.digest, digests[alike.visit.digest]) == digests.most_common(1)[0]
