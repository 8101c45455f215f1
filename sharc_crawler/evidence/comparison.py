"""Did a page change between two fetches? Three answers, and the grounds of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Change, Result

if TYPE_CHECKING:
    from sharc_crawler.model import Outcome


class Comparison(NamedTuple):
    """What two fetches of one URL say about the time between them."""

    change: Change
    evidence: Evidence
    reason: str  #: a :class:`~sharc_crawler.evidence.reasons.Reason`, with or without a detail


#: These show nothing of the page: neither that it stayed nor that it changed.
_SHOWS_NOTHING = {
    Result.FAILED: (Reason.FIRST_FAILED, Reason.SECOND_FAILED),
    Result.REFUSED: (Reason.FIRST_REFUSED, Reason.SECOND_REFUSED),
}


def compare(old: Outcome, new: Outcome) -> Comparison:
    """Whether what ``old`` showed had changed when ``new`` was fetched.

    * A fetch that failed or was refused, or a payload without digest: unknown.
    * 304 to a request that carried the validators of ``old``: unchanged, by the server's word.
    * Equal payload digests, before or after unpacking (``Content-Encoding``), or redirects to one place: unchanged, by
      bytes; different ones: changed.
    * Another kind of answer (content, redirect, gone) than before: changed. Gone both times: unchanged.

    >>> from sharc_crawler.model import Outcome
    >>> before = Outcome(Result.OK, 0.0, 1.0, status=200, digest="sha1:A")
    >>> compare(before, Outcome(Result.GONE, 9.0, 9.5, status=404)).reason
    'other-answer: content before, gone after'
    """
    for place, outcome in enumerate((old, new)):
        if outcome.result in _SHOWS_NOTHING:
            return _unknown(_SHOWS_NOTHING[outcome.result][place])
    if new.result is Result.NOT_MODIFIED:
        return _not_modified(old)
    before, after = _kind(old), _kind(new)
    if before != after:
        return Comparison(Change.CHANGED, Evidence.BYTES, Reason.OTHER_ANSWER.of(f"{before} before, {after} after"))
    if new.result is Result.REDIRECTED:
        return _redirects(old, new)
    if new.result is Result.GONE:
        return Comparison(Change.UNCHANGED, Evidence.BYTES, Reason.GONE_TWICE)
    return _payloads(old, new)


def _kind(outcome: Outcome) -> str:
    """The kind of answer; an earlier 304 stands for the content it confirmed."""
    return {Result.REDIRECTED: "redirect", Result.GONE: "gone"}.get(outcome.result, "content")


def _unknown(reason: str) -> Comparison:
    return Comparison(Change.UNKNOWN, Evidence.NONE, reason)


def _not_modified(old: Outcome) -> Comparison:
    if old.result is Result.NOT_MODIFIED or (old.result is Result.OK and old.validators):
        return Comparison(Change.UNCHANGED, Evidence.VALIDATOR, Reason.NOT_MODIFIED)
    return _unknown(Reason.UNASKED_304)


def _redirects(old: Outcome, new: Outcome) -> Comparison:
    if old.location is None or new.location is None:
        return _unknown(Reason.NO_TARGET)
    if old.location == new.location:
        return Comparison(Change.UNCHANGED, Evidence.BYTES, Reason.ONE_TARGET)
    return Comparison(Change.CHANGED, Evidence.BYTES, Reason.OTHER_TARGET)


def _payloads(old: Outcome, new: Outcome) -> Comparison:
    if old.digest is None or new.digest is None:
        return _unknown(Reason.NO_DIGEST)
    if old.digest == new.digest:
        return Comparison(Change.UNCHANGED, Evidence.BYTES, Reason.EQUAL_BYTES)
    if (old.decoded or old.digest) == (new.decoded or new.digest):
        return Comparison(Change.UNCHANGED, Evidence.BYTES, Reason.EQUAL_UNPACKED)
    return Comparison(Change.CHANGED, Evidence.BYTES, Reason.OTHER_BYTES)
