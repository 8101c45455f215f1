"""Validators: of 304s, and of two downloads."""

from __future__ import annotations

import re

from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Change, Comparison, Outcome, Result, Validators

#: seconds: a Last-Modified this close to the Date is weak (RFC 9110, 8.8.2.2), or made on request
TOO_FRESH = 1.0
#: suffixes that servers add to the ETag of a compressed answer
_PACKED = re.compile(r'(?:--?|;)(?:gzip|br|zstd|deflate)"$')
_FUTURE = 2.0  #: seconds that a Last-Modified may be after its Date: both are cut to the second
_STRONG = re.compile(r'"[^"]*"')


def made_on_request(outcome: Outcome) -> bool:
    """Is an answer's Last-Modified within a second of its Date?"""
    modified = http_date(outcome.validators.last_modified)
    return modified is not None and outcome.date is not None and modified >= outcome.date - TOO_FRESH


def opaque(etag: str | None) -> str | None:
    """Return an ETag without its mark of weakness."""
    return etag.removeprefix("W/") if etag else None


def weak(outcome: Outcome) -> bool:
    """May its validators stay the same though bytes change? An ill-formed ETag, or two of them, is weak."""
    etag = outcome.validators.etag
    if etag:
        return _STRONG.fullmatch(etag) is None
    return outcome.validators.last_modified is not None and (outcome.date is None or made_on_request(outcome))


def not_modified(old: Outcome, new: Outcome, *, restless: bool) -> Comparison:
    """Return the comparison that a 304 stands for."""
    if old.result is not Result.NOT_MODIFIED and not (old.result is Result.OK and old.validators):
        return Comparison.unknown(Reason.UNASKED_304)
    if not restless:
        if contradicts(old.validators, new.validators):
            return Comparison.unknown(Reason.OTHER_ETAG)
        before, after = (http_date(outcome.validators.last_modified) for outcome in (old, new))
        moved = before is not None and after is not None and after - before
        if moved and (moved > 0 or not old.validators.etag):  # older content is other content, too
            return Comparison.unknown(Reason.LATER_MODIFIED)
        if not old.validators.etag and _ahead(old):
            return Comparison.unknown(Reason.LATER_MODIFIED)
    evidence = Evidence.WEAK_VALIDATOR if weak(old) else Evidence.VALIDATOR
    return Comparison(Change.UNCHANGED, evidence, Reason.NOT_MODIFIED)


def _ahead(outcome: Outcome) -> bool:
    """Is its Last-Modified in the future by the server's own clock? That is no validator (RFC 9110, 8.8.2.1)."""
    modified = http_date(outcome.validators.last_modified)
    return modified is not None and outcome.date is not None and modified > outcome.date + _FUTURE


def contradicts(sent: Validators, answered: Validators) -> bool:
    """Has a 304 another ETag than the request? Then the server has other content.

    A missing suffix of a coding does not count: the ETag with it matched.
    """
    before, now = opaque(sent.etag), opaque(answered.etag)
    return bool(before and now) and now not in (before, _PACKED.sub('"', before or ""))


def confirmed(sent: Validators, answered: Validators) -> Validators:
    """Return the validators that a 304 confirms: its own, but with an ETag's suffix of a coding as sent."""
    etag = answered.etag if not sent.etag or opaque(answered.etag) == opaque(sent.etag) else sent.etag
    return Validators(etag, answered.last_modified or sent.last_modified)


def contradiction(old: Outcome, new: Outcome, *, dated: bool) -> Reason | None:
    """Return why headers contradict the equal content of two downloads (it may have changed and changed back), or None.

    Differently compressed bytes may have other ETags. A Last-Modified made on request means nothing, unless pages of
    its kind are ``dated``.
    """
    etags = old.validators.etag, new.validators.etag
    alike = old.digest == new.digest or (old.decoded is not None and new.decoded is not None)
    if alike and all(etags) and opaque(etags[0]) != opaque(etags[1]):
        return Reason.OTHER_ETAG
    texts = old.validators.last_modified, new.validators.last_modified
    before, after = map(http_date, texts)
    if all(texts) and texts[0] != texts[1] and None in (before, after):  # moved, but unreadable
        return Reason.LATER_MODIFIED
    if after is None or after == before or (not dated and made_on_request(old) and made_on_request(new)):
        return None
    if before is not None and not all(etags):  # in either direction
        return Reason.LATER_MODIFIED
    since = (old.started if before is None else before) if old.date is None else old.date
    return Reason.LATER_MODIFIED if after >= since else None
