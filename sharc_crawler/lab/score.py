"""Scores a schedule by its download times and the true changes, or by the frontier's judgements if there are any.

Without judgements, a page is coherent if it did not change

* between its visit and its revisit (evidence: bytes), or,
* if its ``lastmod`` is trusted, between the reference instant T and one of its downloads (evidence: attested).

A page deleted before its visit, or deleted unchanged before its revisit, is *gone*: neither coherent nor changed. (The
frontier judges the latter as changed; the histories do not count deletions as changes, so it is reported separately.)
The frontier's verdicts rest on the evidence of a live crawl: without evidence a page is unknown, whatever happened.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from sharc_crawler.evidence.blur import blur_variance, stochastic_blur
from sharc_crawler.evidence.survival import log_survival
from sharc_crawler.evidence.truth import actual_blur, unchanged
from sharc_crawler.lab.belief import Belief
from sharc_crawler.lab.schedule import DownloadTimes
from sharc_crawler.lab.site import Site
from sharc_crawler.model import Judgement, Verdict

Judged = Mapping[int, Judgement]  #: by page of the site
Column = NDArray[np.float64]
Mask = NDArray[np.bool_]


class PageFate(IntEnum):
    """The result for a page."""

    ABSENT = 0  #: never downloaded
    COHERENT = 1
    CHANGED = 2
    GONE = 3
    UNKNOWN = 4  #: visited once without a trusted lastmod, or without evidence for the frontier


FATES = {Verdict.COHERENT: PageFate.COHERENT, Verdict.CHANGED: PageFate.CHANGED, Verdict.UNKNOWN: PageFate.UNKNOWN}


@dataclass(frozen=True, slots=True)
class Score:
    """Numbers of pages, and blur."""

    pages: int  #: downloaded pages
    coherent: int
    incoherent: int
    gone: int
    unknown: int
    expected_incoherent: float  #: by the rates that the crawler believed
    incoherent_error: float  #: standard deviation of ``incoherent``, if these rates are true
    average_blur: float  #: changes per page
    expected_blur: float
    blur_error: float  #: standard deviation of ``average_blur``, if these rates are true


def score(site: Site, schedule: DownloadTimes, belief: Belief, judged: Judged | None = None) -> Score:
    """Score a schedule, by the frontier's judgements if it had a sitemap."""
    found = verdicts(site, schedule, belief.attested, judged)
    risks = change_probabilities(schedule, belief)
    actual, expected, error = blur(site, schedule, belief)
    counts = np.bincount(found, minlength=len(PageFate))
    return Score(
        pages=int(schedule.visited.sum()),
        coherent=int(counts[PageFate.COHERENT]),
        incoherent=int(counts[PageFate.CHANGED]),
        gone=int(counts[PageFate.GONE]),
        unknown=int(counts[PageFate.UNKNOWN]),
        expected_incoherent=float(risks.sum()),
        incoherent_error=math.sqrt(float((risks * (1 - risks)).sum())),
        average_blur=actual,
        expected_blur=expected,
        blur_error=error,
    )


def verdicts(site: Site, schedule: DownloadTimes, attested: Mask, judged: Judged | None = None) -> NDArray[np.int64]:
    """The :class:`PageFate` of each page."""
    found = _happened(site, schedule, attested)
    for page, judgement in (judged or {}).items():
        if found[page] != PageFate.GONE:
            found[page] = FATES[judgement.verdict]
    return found


def _happened(site: Site, schedule: DownloadTimes, attested: Mask) -> NDArray[np.int64]:
    """The :class:`PageFate` of each page by the true changes."""
    v, r = schedule.visits, schedule.revisits
    same = stayed(site, schedule, attested)
    judged = attested | schedule.revisited
    there = site.lives.alive_at(v)
    lost = schedule.revisited & ~site.lives.alive_at(r)
    lost |= attested & ~site.lives.alive_at(np.full(len(v), schedule.reference))
    found = np.full(len(v), PageFate.ABSENT, np.int64)
    found[schedule.visited] = PageFate.UNKNOWN
    found[judged & same] = PageFate.COHERENT
    found[judged & ~same] = PageFate.CHANGED
    found[(judged & same & lost) | ~there] = PageFate.GONE
    found[~schedule.visited] = PageFate.ABSENT
    return found


def stayed(site: Site, schedule: DownloadTimes, attested: Mask) -> Mask:
    """Whether each page stayed unchanged over the time that its evidence must cover."""
    changes = site.changes.rows
    by_bytes = unchanged(changes, schedule.visits, schedule.revisits)
    if not attested.any():
        return by_bytes
    before, after = (unchanged(changes, *ends) for ends in to_reference(schedule))
    return np.where(attested, before | (after & schedule.revisited), by_bytes)


def to_reference(schedule: DownloadTimes) -> tuple[tuple[Column, Column], tuple[Column, Column]]:
    """The intervals between each page's visit and T, and between its revisit and T, as (start, end)."""
    T = schedule.reference
    v, r = schedule.visits, schedule.revisits
    return (np.minimum(v, T), np.maximum(v, T)), (np.minimum(r, T), np.maximum(r, T))


def change_probabilities(schedule: DownloadTimes, belief: Belief) -> Column:
    """Each page's probability of a change (Definition 5: the sum is the expected incoherence); 0 if not judged."""
    (v_start, v_end), (r_start, r_end) = to_reference(schedule)

    def survival(lengths: Column) -> Column:
        return np.where(np.isnan(lengths), 0.0, np.exp(log_survival(belief.rates, lengths, belief.shapes)))

    v_length, r_length = v_end - v_start, r_end - r_start
    by_bytes = survival(schedule.revisits - schedule.visits)
    either_side = survival(v_length) + survival(r_length) - survival(v_length + r_length)
    judged = schedule.visited & (belief.attested | schedule.revisited)
    risks: Column = np.where(judged, 1 - np.where(belief.attested, either_side, by_bytes), 0.0)
    return risks


def blur(site: Site, schedule: DownloadTimes, belief: Belief) -> tuple[float, float, float]:
    """Blur per downloaded page over the capture interval: actual (eqs. 23 and 24), expected by the crawler, and the
    standard deviation of the difference if the rates are true.

    All are 0 for a capture without duration.
    """
    start, end = schedule.interval
    if start == end:
        return 0.0, 0.0, 0.0
    pages = np.flatnonzero(schedule.visited)
    downloads = schedule.visits[pages], (start, end), schedule.revisits[pages]
    actual = actual_blur([site.changes.rows[page] for page in pages], *downloads)
    expected = stochastic_blur(belief.rates[pages], *downloads)
    error = math.sqrt(float(blur_variance(belief.rates[pages], *downloads).sum())) / len(pages)
    return float(actual.mean()), float(expected.mean()), error
