"""Facts as Hypothesis draws them: any results and texts, with time running forwards and every URL once."""

from __future__ import annotations

import math

from hypothesis import strategies as st

from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Plan, Result, Slot, Url, Verdict

texts = st.text(max_size=30)
instants = st.floats(1e9, 2e9, allow_nan=False)
counts = st.integers(0, 10**9)
URLS = [f"http://a.example/{number}" for number in range(6)]


@st.composite
def visits(draw: st.DrawFn, after: float = 1e9) -> VisitFacts:
    started = after + draw(st.floats(0, 1e8))
    return VisitFacts(
        slot=draw(st.sampled_from(Slot)),
        result=draw(st.sampled_from(Result)),
        started=started,
        ended=started + draw(st.floats(0, 100)),
        status=draw(st.none() | st.integers(100, 599)),
        digest=draw(st.none() | texts),
        fingerprint=draw(st.none() | st.sampled_from("ab")),
        length=draw(counts),
        attempts=draw(counts),
        decided=draw(st.none() | instants),
        error=draw(st.none() | texts),
        warc=draw(st.none() | texts),
    )


@st.composite
def pages(draw: st.DrawFn) -> PageFacts:
    visit = draw(st.none() | visits())
    return PageFacts(
        url=Url(draw(st.sampled_from(URLS) | texts)),
        kind=draw(st.sampled_from(Kind)),
        via=draw(texts),
        depth=draw(counts),
        rate=draw(st.sampled_from([0.0, math.inf]) | st.floats(0, 1e3)),
        rate_source=draw(texts),
        weight=draw(st.floats(0, 10)),
        plan=draw(st.none() | st.sampled_from(Plan)),
        visit=visit,
        revisit=draw(st.none() | visits(visit.ended)) if visit else None,
        verdict=draw(st.none() | st.sampled_from(Verdict)),
        evidence=draw(st.none() | st.sampled_from(Evidence)),
        reason=draw(texts),
        target=draw(st.none() | st.sampled_from(URLS) | texts),
        truth=draw(st.none() | st.booleans()),
        true_changes=draw(st.none() | st.lists(instants, max_size=4).map(sorted).map(tuple)),
        embeds=tuple(draw(st.lists(st.sampled_from(URLS).map(Url), max_size=4))),
    )


settings = st.dictionaries(
    texts, st.none() | st.booleans() | st.integers() | st.floats() | texts | st.lists(texts, max_size=2), max_size=3
)
captures = st.builds(
    CaptureFacts,
    site=texts,
    seeds=st.lists(texts, max_size=2).map(tuple),
    strategy=texts,
    started=instants,
    ended=st.none() | instants,
    reference=st.none() | instants,
    pages=st.lists(pages(), max_size=8, unique_by=lambda page: page.url).map(tuple),
    step=st.floats(0, 100),
    settings=settings,
    software=st.dictionaries(texts, texts, max_size=2),
    exchanges=counts,
    payload_bytes=counts,
    warcs=st.lists(texts, max_size=2).map(tuple),
    interruptions=st.lists(st.lists(instants, min_size=2, max_size=2).map(sorted).map(tuple), max_size=2).map(tuple),
    notes=st.lists(texts, max_size=3).map(tuple),
)
