"""Reasons of judgements, and why URLs were not captured: codes and their words.

A reason is a code, alone or with a detail after ``": "``. Codes are stored and certified; words are for people.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Self

#: name of the stratum without a name
RARE = "kinds of pages (folder and file type) that have too few pages to be judged each by itself"


class Reason(StrEnum):
    """A code; ``{}`` in its ``words`` stands for the detail."""

    words: str

    def __new__(cls, value: str, words: str = "") -> Self:
        """Make a row of the table."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.words = words
        return member

    def of(self, detail: object) -> str:
        """Return the reason with a detail.

        >>> Reason.GONE.of(404)
        'gone: 404'
        """
        return f"{self.value}: {detail}"

    # two downloads compared
    EQUAL_BYTES = "equal-bytes", "equal bytes before and after"
    EQUAL_UNPACKED = "equal-unpacked", "equal bytes before and after, once unpacked"
    OTHER_BYTES = "other-bytes", "different bytes before and after"
    OTHER_PACKED = "other-packed", "different bytes, which could not be unpacked to their end"
    OTHER_ANSWER = "other-answer", "another kind of answer: {}"
    GONE_TWICE = "gone-twice", "gone both times"
    ONE_TARGET = "one-target", "redirected to one place both times"
    OTHER_TARGET = "other-target", "redirected to another place"
    NO_TARGET = "no-target", "a redirect without target"
    NO_DIGEST = "no-digest", "a payload without digest"
    OTHER_TYPE = "other-type", "the same bytes, as another content type, charset or coding"
    PARTIAL = "partial", "a part of the page alone (206, Content-Range, or packed without its end)"
    STALE = "stale", "the second fetch brought a copy from before the reference instant"
    OTHER_ETAG = "other-etag", "equal bytes or a 304, but another ETag: it may have changed and changed back"
    LATER_MODIFIED = "later-modified", "equal bytes or a 304, but modified after the visit, as the server says"
    NOT_MODIFIED = "not-modified", "the server answered 304"
    UNASKED_304 = "unasked-304", "304 to a request without the first visit's validators"
    FIRST_FAILED = "first-failed", "the first fetch failed"
    FIRST_REFUSED = "first-refused", "the first fetch was refused"
    SECOND_FAILED = "second-failed", "the second fetch failed"
    SECOND_REFUSED = "second-refused", "the second fetch was refused"
    DATA_CHANGED = "data-changed", "what its scripts fetched had changed"  # of a page that scripts make
    DATA_UNKNOWN = "data-unknown", "whether what its scripts fetched stayed the same is not known"
    # lastmods
    LASTMOD_BEFORE_VISIT = "lastmod-before-visit", "lastmod before the visit, read at T or later"
    LASTMOD_BEFORE_T = "lastmod-before-T", "lastmod before T, read at the download after T or later: it shows T"
    LASTMOD_BETWEEN = "lastmod-between", "lastmod between visit and T"
    LASTMOD_OPEN = "lastmod-open", "its lastmod does not tell whether it changed between visit and T"
    LASTMOD_TOO_EARLY = "lastmod-too-early", "no lastmod was read in time"
    NO_DATE = "no-date", "the server sent no Date to hold its lastmod against"
    NO_DOWNLOAD = "no-download", "no download"
    NOT_BELIEVED = "not-believed", "the lastmods of {}"
    NOT_MODIFIED_DOUBTED = "not-modified-doubted", "the server's 304 is not believed for {}"
    # one download
    REFERENCE_DOWNLOAD = "reference-download", "downloaded at the reference instant itself"
    VISITED_ONCE = "visited-once", "visited once"
    NEVER_REVISITED = "never-revisited", "the revisit was never made"
    LATE_DOWNLOAD = "late-download", "downloaded only after the reference instant"
    STOPPED = "stopped", "the capture is not complete: it was not judged yet"
    REFUTED = "refuted", "the WARC files do not support the verdicts"
    ASKED_AGAIN = "asked-again", "requested once more in between, it had changed: it differs each time, or was gone"
    # not captured
    LATE = "late", "discovered after the reference instant"
    LEFT_OUT = "left-out", "{}"
    UNVISITED = "unvisited", "not visited by the crawl"
    REDIRECTED = "redirected", "redirects to {}"
    TO_ITSELF = "redirected-to-itself", "redirects to itself: it may want a cookie"
    GONE = "gone", "not there (status {})"
    REFUSED = "refused", "{}"
    FAILED = "failed", "{}"
