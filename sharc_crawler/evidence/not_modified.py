"""What a 304 says of a page: the server's word that it is as it was."""

from __future__ import annotations

import re

from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence.headers import made_on_request, opaque
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Change, Comparison, Outcome, Result, Validators

#: what servers add to the ETag of what they pack
_PACKED = re.compile(r'(?:--?|;)(?:gzip|br|zstd|deflate)"$')
_FUTURE = 2.0  #: seconds that a Last-Modified may lie after its Date: both are cut to the second
_STRONG = re.compile(r'"[^"]*"')


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
