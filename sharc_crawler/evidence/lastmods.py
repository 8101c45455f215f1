"""What a server's lastmods (of sitemaps, or Last-Modified) show of a page at the reference instant T.

A download before T shows the page's state at T if a lastmod read at T or later dates the last change before the
download; a download after T does if a lastmod read then or later dates it before T. Lastmods are in the server's time,
which each download's Date header ties to ours; what their precision, or the clocks, leave open counts as not shown.
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

Clock = tuple[Seconds, Seconds]  #: least and greatest difference of the server's from ours


_MINUTE, _HALF_AN_HOUR, _DAY = 60.0, 1800.0, 86_400.0
_EAST, _WEST = 14 * 3600.0, 12 * 3600.0  #: seconds that a zone is before UTC, and behind it, at most


class Download(NamedTuple):
    """One download of a page that brought content, or found it gone or elsewhere (``away``), in our time."""

    started: Instant
    ended: Instant
    date: Instant | None  #: the server's clock when it answered, cut to the second
    digest: str | None = None
    modified: Instant | None = None  #: Last-Modified, to the second; servers cut or raise it
    content: str | None = None  #: fingerprint: equal ones differ in what does not count as content
    age: Seconds = 0.0  #: of a copy from a cache: it shows the page as it was so long before
    former: bool = False  #: a former capture made it, and this one did not ask
    away: bool = False  #: 404, 410 or a redirect came: it shows a change, and no page


class Lastmod(NamedTuple):
    """The last change of a page lies in [earliest, latest] of the server's time, as it said when asked at ``read``."""

    read: Instant  #: start of the download that brought the lastmod, in our time
    earliest: Instant
    latest: Instant


class Weighed(NamedTuple):
    """What downloads and lastmods say together."""

    comparison: Comparison
    lies: tuple[str, ...]  #: where a lastmod is at odds with bytes or with a later lastmod


class Readings:
    """The answers of sitemaps: up to when each shows what the sitemap says, and what their server's clock was."""

    def __init__(self) -> None:
        self._answers: dict[object, Outcome] = {}  # of each sitemap the first of the latest Date
        self.clock: Clock | None = None  #: whenever they were read

    def until(self, sitemap: object, answer: Outcome) -> Instant:
        """It may be a copy of the answer that came before."""
        return reach(answer, self._answers.get(sitemap), None)

    def add(self, sitemap: object, answer: Outcome, *, later: bool = False) -> None:
        """An answer; ``later``: by another clock of ours than the others. Copies tell of no clock."""
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
    """Is one of the downloads shown to be the page's state at T?

    ``lastmods`` are the sitemaps'; the downloads bring their own. ``lag``: how late they tell of changes; what rests
    on one that was read sooner is provisional. A page's own ``Last-Modified`` came with its content, and is not late.
    ``clock``: what the server's was when the sitemaps were read. It may have been set since a download, and nothing
    tells which of the two a lastmod was written by.

    One lastmod for a change between download and T outweighs any number against it. So does one that may be of such a
    change, against those that are older: of two sitemaps one may have been left behind.

    >>> seen = Download(started=10.0, ended=10.1, date=10.0)
    >>> weigh([seen], [Lastmod(20.0, 5.0, 6.0)], reference=20.0).comparison.reason
    <Reason.LASTMOD_BEFORE_VISIT: 'lastmod-before-visit'>
    >>> weigh([seen], [Lastmod(20.0, 15.0, 16.0)], reference=20.0).comparison.change.value
    'changed'
    """
    downloads, lastmods = [_no_copy_of(downloads[0], download) for download in downloads], [*map(anywhere, lastmods)]
    own = [lastmod for download in downloads if (lastmod := header_lastmod(download))]
    known = [*lastmods, *own]
    clocks = [one for one in (clock, *(offset(download) for download in downloads if not download.age)) if one]
    found = [_shown(download, lastmods, own, reference, lag, clocks) for download in downloads if not download.away]
    # what is shown for good comes first, and of that what this capture downloaded
    found.sort(key=lambda one: (one.evidence is Evidence.PROVISIONAL, one.evidence is Evidence.FORMER))
    lies = (*_belied_by_bytes(downloads, lastmods, clocks), *_at_odds(downloads, known, lag, clocks))
    for change in (Change.UNCHANGED, Change.CHANGED):
        for one in found:
            if one.change is change:
                return Weighed(one, lies)
    return Weighed(found[0] if found else Comparison.unknown(Reason.NO_DOWNLOAD), lies)


def _no_copy_of(first: Download, download: Download) -> Download:
    """A later download of no later Date is a copy of the first, whatever Age it has."""
    passed = download.started - first.started
    copied = first.date is not None and download.date is not None and download.date <= first.date
    return download._replace(age=max(download.age, passed)) if copied and passed > DATE_PRECISION else download


def download_of(outcome: Outcome, *, former: bool = False) -> Download:
    """A page's download, as it ended. Of a 304, what it was asked by counts: its server says that it is so still."""
    modified = http_date(outcome.validators.last_modified)
    digest, age = outcome.decoded or outcome.digest, outcome.age or 0.0
    return Download(outcome.started, outcome.ended, outcome.date, digest, modified, outcome.fingerprint, age, former)


def header_lastmod(download: Download) -> Lastmod | None:
    """The Last-Modified of a download; None without one, and where it only repeats the Date (made on request).

    A copy from a cache says what was so when it was made.
    """
    if download.modified is None or (download.date is not None and download.modified > download.date - DATE_PRECISION):
        return None
    read = download.started - (download.age and download.age + AGE_PRECISION)
    return Lastmod(read, download.modified - 1.0, download.modified + 1.0)


def around(clocks: Iterable[Clock]) -> Clock:
    """What lies between the least and the greatest of them."""
    least, greatest = zip(*clocks, strict=True)
    return min(least), max(greatest)


def offset(download: Download) -> Clock | None:
    """What the server's clock was; None: it sent no Date."""
    return (
        None
        if download.date is None
        else (download.date - download.ended, download.date + DATE_PRECISION - download.started)
    )


def anywhere(said: Lastmod) -> Lastmod:
    """All that may be meant by a date, or by a time of day that was cut to one.

    A bare date is a day of the server's, in a zone that nobody tells. What says a full or half hour is likelier a date
    that was made a time, at midnight somewhere, than one page in 1,800; a second of 00 is a minute.

    >>> [anywhere(Lastmod(9.0, at, at + 1.0)).latest - at for at in (61.0, 120.0, 5400.0)]
    [1.0, 60.0, 129600.0]
    """
    length = said.latest - said.earliest
    if length < _DAY and said.earliest % _HALF_AN_HOUR:
        return said if said.earliest % _MINUTE else said._replace(latest=said.earliest + max(length, _MINUTE))
    return Lastmod(said.read, said.earliest - _EAST, said.earliest + max(length, _DAY) + _WEST)


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
    made = download.started - download.age  # what it shows is the page of then
    early = download.ended <= reference
    if not early and made < reference:
        return Comparison.unknown(Reason.STALE if made < download.started else Reason.LASTMOD_TOO_EARLY)
    start, end = (download.ended, reference) if early else (reference, download.started)
    known = [*sitemaps, *headers]
    asked = [one for one in known if one.read >= end]
    if any(start + ahead < one.earliest and one.latest < end + behind for one in asked):
        return Comparison(Change.CHANGED, Evidence.ATTESTED, Reason.LASTMOD_BETWEEN)
    before = (made if early else start) + behind
    told = max(
        (one.earliest for one in known if before <= one.latest and one.earliest <= end + ahead), default=-math.inf
    )
    settled = [*(one for one in sitemaps if one.read >= end + lag), *(one for one in headers if one.read >= end)]
    for_good = Evidence.FORMER if download.former else Evidence.ATTESTED
    reason = Reason.LASTMOD_BEFORE_VISIT if early else Reason.LASTMOD_BEFORE_T
    for words, evidence in ((settled, for_good), (asked, Evidence.PROVISIONAL)):
        if any(told <= one.latest < before for one in words):
            return Comparison(Change.UNCHANGED, evidence, reason)
    return Comparison.unknown(Reason.LASTMOD_OPEN if asked else Reason.LASTMOD_TOO_EARLY)


def _belied_by_bytes(
    downloads: Sequence[Download], lastmods: Sequence[Lastmod], clocks: Sequence[Clock]
) -> Iterator[str]:
    """Two downloads show a change that a lastmod read with or after the second one dates before the first."""
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
    """One lastmod dates a change into the time that another one, read later than that, calls still.

    One that was read before its lag was over was late, which is no lie: what rests on it is provisional.
    """
    clock = next(filter(None, map(offset, downloads)), None)
    if clock is None:
        return
    for still in lastmods:
        told = still.read + around([clock, *clocks])[0] - lag
        if any(still.latest < lastmod.earliest and lastmod.latest < told for lastmod in lastmods):
            yield "a lastmod that another one belies"


def differ(first: Download, second: Download) -> bool:
    """Do two downloads show a change of the page? A nonce or a counter is none: no lastmod tells of these.

    Gone, or led elsewhere, where the other brought content, is one.

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
    """Have they other bytes, and the same content? Then they bear no word out: content is what we hold it to be.

    >>> seen = Download(1.0, 1.1, 1.0, "A", content="story")
    >>> [alike(seen, Download(9.0, 9.1, 9.0, *other)) for other in (("A", None, "story"), ("B", None, "story"))]
    [False, True]
    """
    known = first.digest is not None and second.digest is not None
    return known and first.digest != second.digest and not differ(first, second)
