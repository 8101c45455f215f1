"""What a server's word on the last change of a page (lastmod, Last-Modified) shows of it at the reference instant T.

A download before T shows the page's state at T if a word read at T or later dates the last change before the download;
a download after T does if a word read then or later dates it before T. Words are in the server's time, which each
download's Date header ties to ours; what a word's precision, or the clocks, leave open counts as not shown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler.changes.compare import Comparison
from sharc_crawler.model import Change, Evidence

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sharc_crawler.model import Instant, Seconds

#: a Date header is cut to the second, and servers keep it for another
DATE_PRECISION: Seconds = 2.0


class Look(NamedTuple):
    """One download of a page that brought content, in our time."""

    started: Instant
    ended: Instant
    date: Instant | None  #: the server's clock when it answered, cut to the second
    digest: str | None = None
    modified: Instant | None = None  #: Last-Modified, to the second; servers cut or raise it
    content: str | None = None  #: fingerprint: equal ones differ in what does not count as content


class Word(NamedTuple):
    """The last change of a page lies in [earliest, latest] of the server's time, as it said when asked at ``read``."""

    read: Instant  #: start of the download that brought the word, in our time
    earliest: Instant
    latest: Instant


class Weighed(NamedTuple):
    """What looks and words say together."""

    comparison: Comparison
    lies: tuple[str, ...]  #: where a word is at odds with bytes or with a later word


def weigh(looks: Sequence[Look], words: Sequence[Word], reference: Instant) -> Weighed:
    """Is one of the looks shown to be the page's state at T? ``words`` are the sitemaps'; the looks bring their own.

    One word for a change between look and T outweighs any number against it.

    >>> seen = Look(started=10.0, ended=10.1, date=10.0)
    >>> weigh([seen], [Word(20.0, 5.0, 6.0)], reference=20.0).comparison.reason
    'lastmod before the visit, read at T or later'
    >>> weigh([seen], [Word(20.0, 15.0, 16.0)], reference=20.0).comparison.change.value
    'changed'
    """
    heard = [*words, *(word for look in looks if (word := header_word(look)))]
    found = [_shown(look, heard, reference) for look in looks]
    lies = (*_belied_by_bytes(looks, words), *_at_odds(looks, heard))
    for change in (Change.UNCHANGED, Change.CHANGED):
        for one in found:
            if one.change is change:
                return Weighed(one, lies)
    return Weighed(found[0] if found else _open("no download"), lies)


def header_word(look: Look) -> Word | None:
    """The Last-Modified of a download; None without one, and where it only repeats the Date (made on request)."""
    if look.modified is None or (look.date is not None and look.modified > look.date - DATE_PRECISION):
        return None
    return Word(look.started, look.modified - 1.0, look.modified + 1.0)


def offset(look: Look) -> tuple[Seconds, Seconds] | None:
    """Least and greatest difference of the server's clock from ours; None: it sent no Date."""
    return None if look.date is None else (look.date - look.ended, look.date + DATE_PRECISION - look.started)


def _shown(look: Look, words: Sequence[Word], reference: Instant) -> Comparison:
    clock = offset(look)
    if clock is None:
        return _open("the server sent no Date to hold its lastmod against")
    behind, ahead = clock
    if look.ended <= reference:
        asked = [word for word in words if word.read >= reference]
        still = any(word.latest < look.started + behind for word in asked)
        moved = any(look.ended + ahead < word.earliest and word.latest < reference + behind for word in asked)
        reason = "lastmod before the visit, read at T or later"
    else:
        asked = [word for word in words if word.read >= look.started >= reference]
        still = any(word.latest < reference + behind for word in asked)
        moved = any(reference + ahead < word.earliest and word.latest < look.started + behind for word in asked)
        reason = "lastmod before T, read at the visit or later"
    if moved:
        return Comparison(Change.CHANGED, Evidence.ATTESTED, "lastmod between visit and T")
    if still:
        return Comparison(Change.UNCHANGED, Evidence.ATTESTED, reason)
    return _open("no lastmod that decides" if asked else "no lastmod was read in time")


def _belied_by_bytes(looks: Sequence[Look], words: Sequence[Word]) -> Iterator[str]:
    """Two downloads show a change, and a word read with or after the second dates the last change before the first."""
    for first in looks:
        for second in looks:
            clock = offset(first)
            if clock is None or second.started < first.ended or not differ(first, second):
                continue
            own = header_word(second)
            asked = [*(word for word in words if word.read >= second.ended), *([own] if own else [])]
            if any(word.latest < first.started + clock[0] for word in asked):
                yield "a lastmod older than a change that two downloads saw"


def _at_odds(looks: Sequence[Look], words: Sequence[Word]) -> Iterator[str]:
    """One word dates a change into the time that another one, read later than that, calls still."""
    clock = next(filter(None, map(offset, looks)), None)
    if clock is None:
        return
    for still in words:
        if any(still.latest < word.earliest and word.latest < still.read + clock[0] for word in words):
            yield "a lastmod that another one belies"


def differ(first: Look, second: Look) -> bool:
    """Do two downloads show a change of the page? A nonce or a counter is none: no lastmod tells of these.

    >>> seen = Look(1.0, 1.1, 1.0, "A", content="story")
    >>> [differ(seen, Look(9.0, 9.1, 9.0, "B", content=text)) for text in ("story", "edited", None)]
    [False, True, True]
    """
    if first.digest is None or second.digest is None or first.digest == second.digest:
        return False
    return first.content is None or first.content != second.content


def _open(reason: str) -> Comparison:
    return Comparison(Change.UNKNOWN, Evidence.NONE, reason)
