"""Compare two fetches of a page: unchanged, changed or unknown, with the reason."""

from __future__ import annotations

from sharc_crawler.changes.http import BROKEN
from sharc_crawler.evidence.headers import is_part
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Change, Comparison, Outcome, Result

#: results that show nothing: the reasons if they are the first, or the second, fetch's
_SHOWS_NOTHING = {
    Result.FAILED: (Reason.FIRST_FAILED, Reason.SECOND_FAILED),
    Result.REFUSED: (Reason.FIRST_REFUSED, Reason.SECOND_REFUSED),
}


def compare(old: Outcome, new: Outcome, *, restless: bool = False, dated: bool = False) -> Comparison:
    """Compare the page's state in ``old`` with that in ``new``.

    * A fetch that failed or was refused, a part (206, ``Content-Range``, packed without its end), no digest: unknown.
    * A 304 to a request with the validators of ``old``: unchanged, by the server's word (weak or strong validator).
    * Equal digests, before or after decoding (``Content-Encoding``), or redirects to the same place: unchanged, by
      bytes. Different ones, or another content type or coding: changed; unknown if a broken coding hides them.
    * Another kind of answer (content, redirect, gone): changed. Gone both times: unchanged.
    * The same content, but another ETag or Last-Modified (after the visit, or any other without ETags): unknown, as the
      server contradicts itself; unless validators are ``restless``: known to differ for unchanged content. ``dated``:
      pages of this kind have a Last-Modified that is not made on request.

    >>> from sharc_crawler.model import Outcome
    >>> before = Outcome(Result.OK, 0.0, 1.0, status=200, digest="sha1:A")
    >>> compare(before, Outcome(Result.GONE, 9.0, 9.5, status=404)).reason
    'other-answer: content before, gone after'
    """
    for place, outcome in enumerate((old, new)):
        if outcome.result in _SHOWS_NOTHING:
            return Comparison.unknown(_SHOWS_NOTHING[outcome.result][place])
    if is_part(old) or is_part(new):
        return Comparison.unknown(Reason.PARTIAL)
    if new.result is Result.NOT_MODIFIED:
        from sharc_crawler.evidence.validators import not_modified  # many sites never send one

        return not_modified(old, new, restless=restless)
    before, after = _kind(old), _kind(new)
    if before != after:
        return Comparison(Change.CHANGED, Evidence.BYTES, Reason.OTHER_ANSWER.of(f"{before} before, {after} after"))
    if new.result is Result.REDIRECTED:
        return _redirects(old, new)
    if new.result is Result.GONE:
        return Comparison(Change.UNCHANGED, Evidence.BYTES, Reason.GONE_TWICE)
    return _payloads(old, new, restless=restless, dated=dated)


def _kind(outcome: Outcome) -> str:
    """The kind of answer; an earlier 304 stands for the content it confirmed."""
    return {Result.REDIRECTED: "redirect", Result.GONE: "gone"}.get(outcome.result, "content")


def _redirects(old: Outcome, new: Outcome) -> Comparison:
    if old.location is None or new.location is None:
        return Comparison.unknown(Reason.NO_TARGET)
    if old.location == new.location:
        return Comparison(Change.UNCHANGED, Evidence.BYTES, Reason.ONE_TARGET)
    return Comparison(Change.CHANGED, Evidence.BYTES, Reason.OTHER_TARGET)


def _payloads(old: Outcome, new: Outcome, *, restless: bool, dated: bool) -> Comparison:
    if old.digest is None or new.digest is None:
        return Comparison.unknown(Reason.NO_DIGEST)
    same, unpacked = old.digest == new.digest, (old.decoded or old.digest) == (new.decoded or new.digest)
    if not unpacked and not same:
        if any((outcome.decoded or "").startswith(BROKEN) for outcome in (old, new)):
            return Comparison.unknown(Reason.OTHER_PACKED)
        return Comparison(Change.CHANGED, Evidence.BYTES, Reason.OTHER_BYTES)
    if not unpacked or (old.media_type, old.charset) != (new.media_type, new.charset):
        return Comparison(Change.CHANGED, Evidence.BYTES, Reason.OTHER_TYPE)
    if not restless and (why := said_against(old, new, dated=dated)):
        return Comparison.unknown(why)
    return Comparison(Change.UNCHANGED, Evidence.BYTES, Reason.EQUAL_BYTES if same else Reason.EQUAL_UNPACKED)


def said_against(old: Outcome, new: Outcome, *, dated: bool = False) -> Reason | None:
    """Return why the validators of two downloads contradict their equal content, or ``None``."""
    if not any(new.validators):
        return None
    from sharc_crawler.evidence.validators import contradiction  # many sites send none

    return contradiction(old, new, dated=dated)
