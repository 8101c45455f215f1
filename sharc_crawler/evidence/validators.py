"""What validators say of a page: of a 304, the server's word that it is as it was, and of two downloads."""

from __future__ import annotations

import re

from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Change, Comparison, Outcome, Result, Validators

#: a Last-Modified that lies so little before the Date is weak (RFC 9110, 8.8.2.2), or made on request
TOO_FRESH = 1.0
#: what servers add to the ETag of what they pack
_PACKED = re.compile(r'(?:--?|;)(?:gzip|br|zstd|deflate)"$')
_FUTURE = 2.0  #: seconds that a Last-Modified may lie after its Date: both are cut to the second
_STRONG = re.compile(r'"[^"]*"')


def made_on_request(outcome: Outcome) -> bool:
    """Whether an answer's Last-Modified lies within a second of its Date."""
    modified = http_date(outcome.validators.last_modified)
    return modified is not None and outcome.date is not None and modified >= outcome.date - TOO_FRESH


def opaque(etag: str | None) -> str | None:
    """An ETag without its mark of weakness."""
    return etag.removeprefix("W/") if etag else None


def weak(outcome: Outcome) -> bool:
    """May its validators stay the same though bytes change? What is no ETag by the grammar, or two of them, is weak."""
    etag = outcome.validators.etag
    if etag:
        return _STRONG.fullmatch(etag) is None
    return outcome.validators.last_modified is not None and (outcome.date is None or made_on_request(outcome))


def not_modified(old: Outcome, new: Outcome, *, restless: bool) -> Comparison:
    """What a 304 to a conditional request says."""
    if old.result is not Result.NOT_MODIFIED and not (old.result is Result.OK and old.validators):
        return Comparison.unknown(Reason.UNASKED_304)
    if not restless:
        if contradicts(old.validators, new.validators):
            return Comparison.unknown(Reason.OTHER_ETAG)
        before, after = (http_date(one.validators.last_modified) for one in (old, new))
        moved = before is not None and after is not None and after - before
        if moved and (moved > 0 or not old.validators.etag):  # an older content is another one, too
            return Comparison.unknown(Reason.LATER_MODIFIED)
        if not old.validators.etag and _ahead(old):
            return Comparison.unknown(Reason.LATER_MODIFIED)
    evidence = Evidence.WEAK_VALIDATOR if weak(old) else Evidence.VALIDATOR
    return Comparison(Change.UNCHANGED, evidence, Reason.NOT_MODIFIED)


def _ahead(outcome: Outcome) -> bool:
    """Is its Last-Modified of the future, by the server's own clock? That is no validator (RFC 9110, 8.8.2.1)."""
    modified = http_date(outcome.validators.last_modified)
    return modified is not None and outcome.date is not None and modified > outcome.date + _FUTURE


def contradicts(asked: Validators, said: Validators) -> bool:
    """Does a 304 bring another ETag than it was asked by? Its server would send other content, then.

    Not where it leaves away what was added for a coding: by that it was asked, and matched it.
    """
    one, other = opaque(asked.etag), opaque(said.etag)
    return bool(one and other) and other not in (one, _PACKED.sub('"', one or ""))


def confirmed(asked: Validators, said: Validators) -> Validators:
    """Those of what a 304 confirms: as it says them, but for the ending of a coding that it leaves away."""
    etag = said.etag if not asked.etag or opaque(said.etag) == opaque(asked.etag) else asked.etag
    return Validators(etag, said.last_modified or asked.last_modified)


def contradiction(old: Outcome, new: Outcome, *, dated: bool = False) -> Reason | None:
    """What the headers of two downloads of the same content say against it: it may have changed and changed back.

    Bytes packed in another way may have another ETag; a Last-Modified made on request says nothing, unless those of its
    kind of pages are ``dated``.
    """
    etags = old.validators.etag, new.validators.etag
    alike = old.digest == new.digest or (old.decoded is not None and new.decoded is not None)
    if alike and all(etags) and opaque(etags[0]) != opaque(etags[1]):
        return Reason.OTHER_ETAG
    texts = old.validators.last_modified, new.validators.last_modified
    before, after = map(http_date, texts)
    if all(texts) and texts[0] != texts[1] and None in (before, after):  # moved, as nobody can read
        return Reason.LATER_MODIFIED
    if after is None or after == before or (not dated and made_on_request(old) and made_on_request(new)):
        return None
    if before is not None and not all(etags):  # either way: by a clock of its own, or put back by something older
        return Reason.LATER_MODIFIED
    since = (old.started if before is None else before) if old.date is None else old.date
    return Reason.LATER_MODIFIED if after >= since else None
