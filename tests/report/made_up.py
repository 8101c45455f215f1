"""Facts of captures that never were: a pyramid of visits and revisits over pages that change at random."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.model import Kind, Plan, Result, Slot, Url, Verdict

NOON = 1_795_174_200.0  # 2026-11-20T11:30:00Z
SITE = "http://library.example"
SECTIONS = ("news", "events", "collections", "catalogue", "exhibitions", "people", "archive")
#: sitemap class → (share of pages, mean seconds between changes)
CLASSES = {
    "always": (0.06, 240.0),
    "hourly": (0.14, 3_600.0),
    "daily": (0.20, 43_200.0),
    "weekly": (0.27, 604_800.0),
    "monthly": (0.33, 2_629_800.0),
}
LOST = (
    ("old-catalogue", Result.GONE, 404, "not there: 404"),
    ("staff/login", Result.REFUSED, None, "robots.txt forbids it"),
    ("blog", Result.REDIRECTED, 301, "redirects to http://blog.library.example/, which is out of scope"),
    ("search", Result.FAILED, 503, "failed in 3 attempts: 503 Service Unavailable"),
)


def capture(size: int = 300, step: float = 8.0, seed: int = 1, truth: bool = True) -> CaptureFacts:
    """A capture of ``size`` pages by a pyramid around T, ``step`` seconds apart, with resources and losses."""
    rng = np.random.default_rng(seed)
    rates = np.sort(_rates(rng, size))[::-1]
    ranks, hopeless = _selective(rates, step)
    reference = NOON + size * step
    pages = [
        _page(rng, number, float(rates[number]), float(ranks[number] * step), bool(hopeless[number]), reference, step)
        for number in rng.permutation(size).tolist()
    ]
    resources = [_resource(rng, url, reference, size * step) for url in sorted({u for p in pages for u in p.embeds})]
    everything = (*pages, *resources, *_lost(), _robots())
    ended = reference + size * step
    return CaptureFacts(
        site="library.example",
        seeds=(f"{SITE}/",),
        strategy="sharc-selective",
        started=NOON - 4.2,
        ended=ended,
        reference=reference,
        pages=everything if truth else tuple(replace(p, truth=None, true_changes=None) for p in everything),
        step=step,
        settings={"scope": "host", "sitemap": "auto", "delay": step, "limit": None},
        software={"sharc-crawler": "0.1.0", "Scrapy": "2.19.0", "Python": "3.11.2"},
        exchanges=2 * len(everything),
        payload_bytes=size * 41_234,
        warcs=("library.example-20261120113000-00000.warc.gz", "library.example-20261120113000-00001.warc.gz"),
        interruptions=((reference - size * step / 3, reference - size * step / 3 + 2.5 * step),),
        notes=("sitemap http://library.example/sitemap-news.xml: 3 of 96 entries had no readable lastmod",),
    )


def _rates(rng: np.random.Generator, size: int) -> np.ndarray:
    shares = np.array([share for share, _ in CLASSES.values()])
    means = np.array([mean for _, mean in CLASSES.values()])
    return 1 / (means[rng.choice(len(means), size, p=shares)] * rng.lognormal(0, 0.6, size))


def _selective(rates: np.ndarray, step: float) -> tuple[np.ndarray, np.ndarray]:
    """SHARC-selective by its definition, hottest first: half intervals in steps, and who is hopeless."""
    size = len(rates)
    half, hopeless = np.zeros(size, int), np.zeros(size, bool)
    low, high = 1, size - 1
    for page in range(1, size):
        rest = rates[page + 1 :]
        kept = np.exp(-rates[page] * 2 * low * step) + np.exp(-rest * 2 * np.arange(low + 1, high + 1) * step).sum()
        dropped = np.exp(-rates[page] * 2 * high * step) + np.exp(-rest * 2 * np.arange(low, high) * step).sum()
        hopeless[page] = kept < dropped
        half[page] = high if hopeless[page] else low
        low, high = (low, high - 1) if hopeless[page] else (low + 1, high)
    return half, hopeless


def _page(
    rng: np.random.Generator, number: int, rate: float, half: float, hopeless: bool, reference: float, step: float
) -> PageFacts:
    jitter, took = rng.uniform(0, 0.05 * step, 2), rng.uniform(0.05, 0.4, 2)
    start, span = NOON, 2 * (reference - NOON)
    changes = tuple(float(t) for t in np.sort(rng.uniform(start, start + span, rng.poisson(rate * span))))
    visited, revisited = reference - half + jitter[0], reference + half + jitter[1]
    apex = half == 0
    visit = _visit(Slot.ONLY if apex else Slot.FIRST, Result.OK, visited, took[0], f"a{number}")
    stayed = apex or not any(visited < t <= revisited for t in changes)
    failed = not apex and rng.random() < 0.02
    modest = rng.random() < 0.4
    result = Result.FAILED if failed else Result.NOT_MODIFIED if stayed and modest else Result.OK
    digest = f"a{number}" if stayed else f"b{number}"
    verdict = Verdict.UNKNOWN if failed else Verdict.COHERENT if stayed else Verdict.CHANGED
    return PageFacts(
        url=Url(f"{SITE}/{SECTIONS[number % len(SECTIONS)]}/{number:04d}.html" if number else f"{SITE}/"),
        kind=Kind.PAGE,
        via=f"{SITE}/sitemap.xml" if rng.random() < 0.8 else f"{SITE}/",
        depth=min(number, 1 + number % 4),
        rate=rate,
        rate_source="sitemap" if rng.random() < 0.8 else "prior",
        plan=Plan.HOPELESS if hopeless else Plan.HOPEFUL,
        visit=visit,
        revisit=None if apex else _visit(Slot.SECOND, result, revisited, took[1], digest),
        verdict=verdict,
        evidence=Evidence.NONE if failed else Evidence.VALIDATOR if result is Result.NOT_MODIFIED else Evidence.BYTES,
        reason=_reason(verdict, result, apex),
        truth=stayed,
        true_changes=changes,
        embeds=(Url(f"{SITE}/style.css"), *([Url(f"{SITE}/img/{number:04d}.jpg")] if modest else [])),
    )


def _visit(slot: Slot, result: Result, started: float, took: float, digest: str) -> VisitFacts:
    failed, unchanged = result is Result.FAILED, result is Result.NOT_MODIFIED
    return VisitFacts(
        slot=slot,
        result=result,
        started=float(started),
        ended=float(started + took),
        status=None if failed else 304 if unchanged else 200,
        digest=None if failed or unchanged else f"sha1:{digest}",
        length=0 if failed or unchanged else 18_400,
        attempts=3 if failed else 1,
        decided=float(started) - 0.002,
        error="timed out after 30 s" if failed else None,
        warc=None if failed else "library.example-20261120113000-00000.warc.gz:77120",
    )


def _reason(verdict: Verdict, result: Result, apex: bool) -> str:
    if apex:
        return "its only download is the reference instant"
    if verdict is Verdict.COHERENT:
        return "not modified, says the server" if result is Result.NOT_MODIFIED else "equal bytes before and after"
    return "different bytes" if verdict is Verdict.CHANGED else "the revisit failed: timed out after 30 s"


def _resource(rng: np.random.Generator, url: Url, reference: float, half: float) -> PageFacts:
    offset = rng.uniform(0.05, 0.95) * half
    stayed = bool(rng.random() > 0.02)
    return PageFacts(
        url=url,
        kind=Kind.RESOURCE,
        via=f"{SITE}/",
        depth=1,
        rate=0.0,
        rate_source="none",
        visit=_visit(Slot.FIRST, Result.OK, reference - offset, 0.1, "r"),
        revisit=_visit(Slot.SECOND, Result.OK, reference + offset, 0.1, "r" if stayed else "s"),
        verdict=Verdict.COHERENT if stayed else Verdict.CHANGED,
        evidence=Evidence.BYTES,
        reason="equal bytes before and after" if stayed else "different bytes",
        truth=stayed,
        true_changes=() if stayed else (reference,),
    )


def _lost() -> list[PageFacts]:
    pages = [
        PageFacts(
            url=Url(f"{SITE}/{path}"),
            kind=Kind.PAGE,
            via=f"{SITE}/",
            depth=2,
            rate=1e-6,
            rate_source="prior",
            visit=VisitFacts(Slot.FIRST, result, NOON + 60, NOON + 60.2, status) if status else None,
            reason=reason,
        )
        for path, result, status, reason in LOST
    ]
    late = "found after the reference instant"
    return [
        *pages,
        PageFacts(Url(f"{SITE}/news/late.html"), Kind.PAGE, f"{SITE}/news/", 2, 1e-6, "prior", reason=late),
        PageFacts(Url(f"{SITE}/missing.png"), Kind.RESOURCE, f"{SITE}/", 1, 0.0, "none", reason="not there: 404"),
    ]


def _robots() -> PageFacts:
    visit = VisitFacts(Slot.ONLY, Result.OK, NOON - 4, NOON - 3.9, 200)
    return PageFacts(Url(f"{SITE}/robots.txt"), Kind.ROBOTS, "host", 0, 0.0, "none", visit=visit)
