"""What lastmods (of sitemaps, or Last-Modified) show of a page at the reference instant T.

A download before T shows the page's state at T if a lastmod read at T or later is before the download. A download after
T does if a lastmod read then or later is before T. Lastmods are in the server's time, which each download's Date
relates to ours. What their precision or the clocks leave open counts as not shown.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from sharc_crawler.changes.http import BROKEN, http_date
from sharc_crawler.evidence.intervals import AGE_PRECISION, DATE_PRECISION, no_later, reach
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Change, Comparison, Instant, Outcome, Seconds

Clock = tuple[Seconds, Seconds]  #: minimum and maximum by which the server's clock is ahead of ours


_MINUTE, _HALF_AN_HOUR, _DAY = 60.0, 1800.0, 86_400.0
_EAST, _WEST = 14 * 3600.0, 12 * 3600.0  #: maximum seconds that a time zone is ahead of, or behind, UTC


class Download(NamedTuple):
    """One download of a page, in our time: with content, or gone or redirected (``away``)."""

    started: Instant
    ended: Instant
    date: Instant | None  #: the server's clock at the answer, cut to the second
    digest: str | None = None
    modified: Instant | None = None  #: Last-Modified, rounded up or down to the second
    content: str | None = None  #: fingerprint of the content
    age: Seconds = 0.0  #: of a cache's copy, which shows the page so long before
    former: bool = False  #: taken from a former capture, without a request
    away: bool = False  #: 404, 410 or a redirect: it shows a change


class Lastmod(NamedTuple):
    """A lastmod read at ``read``: the last change lies in [earliest, latest] of the server's time."""

    read: Instant  #: start of the download with the lastmod, in our time
    earliest: Instant
    latest: Instant


class Weighed(NamedTuple):
    """The result of weighing downloads and lastmods."""

    comparison: Comparison
    lies: tuple[str, ...]  #: contradictions of a lastmod with bytes or a later lastmod


class Readings:
    """The answers of sitemaps: the instant up to which each shows the sitemap, and their server's clock."""

    def __init__(self) -> None:
        self._answers: dict[object, Outcome] = {}  # by sitemap: the first answer with the latest Date
        self.clock: Clock | None = None  #: over all readings

    def until(self, sitemap: object, answer: Outcome) -> Instant:
        """Return the instant up to which an answer shows the sitemap: it may be a copy of a former answer."""
        return reach(answer, self._answers.get(sitemap), None)

    def add(self, sitemap: object, answer: Outcome, *, later: bool = False) -> None:
        """Enter an answer; ``later``: our own clock may be another one. Copies do not show the server's clock."""
        if answer.age is not None or no_later(answer, self._answers.get(sitemap)):
            return
        self._answers[sitemap] = answer
        if not later and (clock := offset(Download(answer.started, answer.ended, answer.date))):
            self.clock = around([self.clock or clock, clock])


def weigh(
    downloads: Sequence[Download],
    lastmods: Sequence[Lastmod],
    reference: Instant,
    lag: Seconds = 0.0,
    clock: Clock | None = None,
) -> Weighed:
    """Decide whether a download shows the page's state at T.

    ``lastmods`` are the sitemaps'; downloads have their own. ``lag``: how late sitemaps show changes; a claim on one
    read sooner is provisional. A page's own ``Last-Modified`` comes with its content and is never late. ``clock``: the
    server's when the sitemaps were read. It may have been set since a download, and it is unknown by which of the two a
    lastmod was written.

    One lastmod between download and T outweighs any number of others. So does one that may be between them, against
    older ones: one of two sitemaps may be outdated.

    >>> seen = Download(started=10.0, ended=10.1, date=10.0)
    >>> weigh([seen], [Lastmod(20.0, 5.0, 6.0)], reference=20.0).comparison.reason
    <Reason.LASTMOD_BEFORE_VISIT: 'lastmod-before-visit'>
    >>> weigh([seen], [Lastmod(20.0, 15.0, 16.0)], reference=20.0).comparison.change.value
    'changed'
    """
    downloads, lastmods = [_no_copy_of(downloads[0], download) for download in downloads], [*map(anywhere, lastmods)]
    own = [lastmod for download in downloads if (lastmod := header_lastmod(download))]
    known = [*lastmods, *own]
    clocks = [known for known in (clock, *(offset(made) for made in downloads if not made.age)) if known]
    found = [_shown(download, lastmods, own, reference, lag, clocks) for download in downloads if not download.away]
    # final evidence comes first, and of that downloads of this capture
    found.sort(key=lambda shown: (shown.evidence is Evidence.PROVISIONAL, shown.evidence is Evidence.FORMER))
    lies = (*_belied_by_bytes(downloads, lastmods, clocks), *_at_odds(downloads, known, lag, clocks))
    for change in (Change.UNCHANGED, Change.CHANGED):
        for shown in found:
            if shown.change is change:
                return Weighed(shown, lies)
    return Weighed(found[0] if found else Comparison.unknown(Reason.NO_DOWNLOAD), lies)


def _no_copy_of(first: Download, download: Download) -> Download:
    """Set the age of a later download with no later Date than the first: it is a copy, whatever its Age."""
    passed = download.started - first.started
    copied = first.date is not None and download.date is not None and download.date <= first.date
    return download._replace(age=max(download.age, passed)) if copied and passed > DATE_PRECISION else download


def download_of(outcome: Outcome, *, former: bool = False) -> Download:
    """Make a page's download of its outcome. A 304 counts with the validators that were sent."""
    modified = http_date(outcome.validators.last_modified)
    digest, age = outcome.decoded or outcome.digest, outcome.age or 0.0
    return Download(outcome.started, outcome.ended, outcome.date, digest, modified, outcome.fingerprint, age, former)


def header_lastmod(download: Download) -> Lastmod | None:
    """Return the Last-Modified of a download as a lastmod; None without one, or if it only repeats the Date.

    That of a cache's copy was read when the copy was made.
    """
    if download.modified is None or (download.date is not None and download.modified > download.date - DATE_PRECISION):
        return None
    read = download.started - (download.age and download.age + AGE_PRECISION)
    return Lastmod(read, download.modified - 1.0, download.modified + 1.0)


def around(clocks: Iterable[Clock]) -> Clock:
    """Return the range that spans all clocks."""
    least, greatest = zip(*clocks, strict=True)
    return min(least), max(greatest)


def offset(download: Download) -> Clock | None:
    """Return the server's clock at a download; None without a Date."""
    date = download.date
    return None if date is None else (date - download.ended, date + DATE_PRECISION - download.started)


def anywhere(stated: Lastmod) -> Lastmod:
    """Widen a lastmod to all that it may mean: a bare date, or a time that was cut to one.

    A bare date is a day in an unknown time zone. A full or half hour is more likely midnight of a date, in some zone,
    than one page in 1,800; a second of 00 means the whole minute.

    >>> [anywhere(Lastmod(9.0, at, at + 1.0)).latest - at for at in (61.0, 120.0, 5400.0)]
    [1.0, 60.0, 129600.0]
    """
    read, earliest, latest = stated
    length = latest - earliest
    if length < _DAY and earliest % _HALF_AN_HOUR:
        return stated if earliest % _MINUTE else Lastmod(read, earliest, earliest + max(length, _MINUTE))
    return Lastmod(read, earliest - _EAST, earliest + max(length, _DAY) + _WEST)


def _shown(
    download: Download,
    sitemaps: Sequence[Lastmod],
    headers: Sequence[Lastmod],
    reference: Instant,
    lag: Seconds,
    clocks: Sequence[Clock],
) -> Comparison:
    own = offset(download)
    if own is None:
        return Comparison.unknown(Reason.NO_DATE)
    behind, ahead = around([own, *clocks])
    made = download.started - download.age  # it shows the page at that instant
    early = download.ended <= reference
    if not early and made < reference:
        return Comparison.unknown(Reason.STALE if made < download.started else Reason.LASTMOD_TOO_EARLY)
    start, end = (download.ended, reference) if early else (reference, download.started)
    known = [*sitemaps, *headers]
    asked = [lastmod for lastmod in known if lastmod.read >= end]
    if any(start + ahead < lastmod.earliest and lastmod.latest < end + behind for lastmod in asked):
        return Comparison(Change.CHANGED, Evidence.ATTESTED, Reason.LASTMOD_BETWEEN)
    before = (made if early else start) + behind
    perhaps = (lastmod.earliest for lastmod in known if before <= lastmod.latest and lastmod.earliest <= end + ahead)
    latest = max(perhaps, default=-math.inf)  # of lastmods that may be between them
    settled = [sitemap for sitemap in sitemaps if sitemap.read >= end + lag]
    settled += [header for header in headers if header.read >= end]
    for_good = Evidence.FORMER if download.former else Evidence.ATTESTED
    reason = Reason.LASTMOD_BEFORE_VISIT if early else Reason.LASTMOD_BEFORE_T
    for words, evidence in ((settled, for_good), (asked, Evidence.PROVISIONAL)):
        if any(latest <= lastmod.latest < before for lastmod in words):
            return Comparison(Change.UNCHANGED, evidence, reason)
    return Comparison.unknown(Reason.LASTMOD_OPEN if asked else Reason.LASTMOD_TOO_EARLY)


def _belied_by_bytes(
    downloads: Sequence[Download], lastmods: Sequence[Lastmod], clocks: Sequence[Clock]
) -> Iterator[str]:
    """Yield each change between two downloads that a lastmod, read with or after the second, dates before the first."""
    for first in downloads:
        for second in downloads:
            clock = offset(first)
            if clock is None or second.started < first.ended or not differ(first, second):
                continue
            behind, _ = around([clock, *clocks])
            own = header_lastmod(second)
            asked = [*(lastmod for lastmod in lastmods if lastmod.read >= second.ended), *([own] if own else [])]
            if any(lastmod.latest < first.started + behind for lastmod in asked):
                yield "a lastmod older than a change that two downloads saw"


def _at_odds(
    downloads: Sequence[Download], lastmods: Sequence[Lastmod], lag: Seconds, clocks: Sequence[Clock]
) -> Iterator[str]:
    """Yield each lastmod that another one contradicts: it was read after that change, and does not show it.

    One read within the lag was only late, which is not a lie: what rests on it is provisional.
    """
    clock = next(filter(None, map(offset, downloads)), None)
    if clock is None:
        return
    for still in lastmods:
        until = still.read + around([clock, *clocks])[0] - lag
        if any(still.latest < lastmod.earliest and lastmod.latest < until for lastmod in lastmods):
            yield "a lastmod that another one belies"


def differ(first: Download, second: Download) -> bool:
    """Do two downloads show a change of the page? Not if only a nonce or counter differs: no lastmod shows these.

    Gone or redirected, if the other has content, is a change.

    >>> seen = Download(1.0, 1.1, 1.0, "A", content="story")
    >>> [differ(seen, Download(9.0, 9.1, 9.0, "B", content=text)) for text in ("story", "edited", None)]
    [False, True, True]
    """
    if first.away or second.away:
        return first.away != second.away
    if first.digest is None or second.digest is None or first.digest == second.digest:
        return False
    if first.digest.startswith(BROKEN) or second.digest.startswith(BROKEN):
        return False
    return first.content is None or first.content != second.content


def alike(first: Download, second: Download) -> bool:
    """Have two downloads other bytes but the same content? Then they confirm no lastmod: masks may hide a change.

    >>> seen = Download(1.0, 1.1, 1.0, "A", content="story")
    >>> [alike(seen, Download(9.0, 9.1, 9.0, *other)) for other in (("A", None, "story"), ("B", None, "story"))]
    [False, True]
    """
    known = first.digest is not None and second.digest is not None
    return known and first.digest != second.digest and not differ(first, second)
