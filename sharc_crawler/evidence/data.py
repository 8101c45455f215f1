"""A page made by script is its document and the data that its scripts fetched: it is judged by both.

A shell that never changes around an API that does has changed. Document and data were each downloaded before T and
after it: all unchanged, they were in this state together at T.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from sharc_crawler.evidence.facts import PageFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Instant, Judgement, Result, Url, Verdict

#: from the strongest: what is shown of several things is what is shown of the weakest
_STRENGTH = (
    Evidence.INSTANT,
    Evidence.BYTES,
    Evidence.VALIDATOR,
    Evidence.WEAK_VALIDATOR,
    Evidence.ATTESTED,
    Evidence.FORMER,
    Evidence.PROVISIONAL,
    Evidence.NONE,
)


_PERMANENT = (301, 308)


class DataState(NamedTuple):
    """What came of data that was captured."""

    judgement: Judgement
    reference: Instant | str | None  #: T that it was judged around, in whatever form
    downloads: Sequence[Instant] = ()  #: when the first and the last of it began


def redirected(result: Result, status: int | None) -> Judgement | None:
    """Of data that leads elsewhere, and may lead to another place at other times: it is asked for once.

    >>> redirected(Result.REDIRECTED, 302).verdict.value, redirected(Result.REDIRECTED, 308)
    ('unknown', None)
    """
    unknown = result is Result.REDIRECTED and status not in _PERMANENT
    return Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.REDIRECTED) if unknown else None


def with_data(
    own: Judgement, reference: Instant | str | None, data: Iterable[Url], known: Mapping[Url, DataState]
) -> tuple[Judgement, str]:
    """The judgement of a page with the data that it fetched; and the URL that decided, if any did.

    Changed if any changed; else unknown if anything is unknown, or was judged around another T than the page's; else
    coherent, by the weakest evidence of all. What was not captured is no part of the page as archived.

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
    """A captured page, with the verdict of its data counted in."""
    data = tuple(url for url in page.embeds if url in known)
    if not data or page.verdict is None:
        return page
    own = Judgement(page.verdict, page.evidence or Evidence.NONE, page.reason)
    judgement, url = with_data(own, reference, data, known)
    reason = f"{judgement.reason}: {url}" if url else judgement.reason
    return replace(page, verdict=judgement.verdict, evidence=judgement.evidence, reason=reason, data=data)
