"""Pages made by scripts are judged by their document and the data that their scripts fetched.

If the data changed, the page changed, even if its document did not. Document and data are each downloaded before and
after T: if all are unchanged, they were in this state together at T.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sharc_crawler.evidence.facts import PageFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Instant, Judgement, Result, Url, Verdict

#: from strongest to weakest: evidence on several things is the weakest of theirs
_STRENGTH = (Evidence.INSTANT, *(kind for kind in Evidence if kind is not Evidence.INSTANT))


_PERMANENT = (301, 308)


class DataState(NamedTuple):
    """The judgement of captured data."""

    judgement: Judgement
    reference: Instant | str | None  #: the T that it was judged around, in any form
    downloads: Sequence[Instant] = ()  #: starts of its first and last download


def redirected(result: Result, status: int | None) -> Judgement | None:
    """Return the judgement of data that redirects temporarily: unknown, as the target may vary.

    >>> redirected(Result.REDIRECTED, 302).verdict.value, redirected(Result.REDIRECTED, 308)
    ('unknown', None)
    """
    unknown = result is Result.REDIRECTED and status not in _PERMANENT
    return Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.REDIRECTED) if unknown else None


def with_data(
    own: Judgement, reference: Instant | str | None, data: Iterable[Url], known: Mapping[Url, DataState]
) -> tuple[Judgement, str]:
    """Return the judgement of a page with its data, and the URL that decided, if any.

    Changed if any data changed; else unknown if any is unknown, or was judged around another T than the page; else
    coherent, by the weakest evidence. Data that was not captured is not part of the archived page.

    >>> same = Judgement(Verdict.COHERENT, Evidence.BYTES, Reason.EQUAL_BYTES)
    >>> other = Judgement(Verdict.CHANGED, Evidence.BYTES, Reason.OTHER_BYTES)
    >>> with_data(same, 5.0, ["/api"], {"/api": DataState(other, 5.0)})[0].reason.value
    'data-changed'
    """
    unknown = ""
    weakest, decided = own, ""
    for url in data:
        found, instant, _ = known[url]
        if found.verdict is Verdict.UNKNOWN or instant != reference:
            unknown = unknown or url
        elif found.verdict is Verdict.CHANGED:
            return Judgement(Verdict.CHANGED, found.evidence, Reason.DATA_CHANGED), url
        elif _STRENGTH.index(found.evidence) > _STRENGTH.index(weakest.evidence):
            weakest, decided = found, url
    if own.verdict is not Verdict.COHERENT:
        return own, ""
    if unknown:
        return Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.DATA_UNKNOWN), unknown
    return weakest, decided


def judged_with_data(page: PageFacts, reference: Instant | None, known: Mapping[Url, DataState]) -> PageFacts:
    """Return a page whose verdict includes its data."""
    data = tuple(url for url in page.embeds if url in known)
    if not data or page.verdict is None:
        return page
    own = Judgement(page.verdict, page.evidence or Evidence.NONE, page.reason)
    judgement, url = with_data(own, reference, data, known)
    reason = f"{judgement.reason}: {url}" if url else judgement.reason
    return replace(page, verdict=judgement.verdict, evidence=judgement.evidence, reason=reason, data=data)
