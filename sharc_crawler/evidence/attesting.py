"""What the server of one capture says of its pages' last changes, and what bytes say of the server.

A page of a class of URLs that nothing speaks against may be claimed on the server's word (:mod:`..evidence.lastmods`).
At the end a share of such pages is downloaded once more and the sitemaps are read once more; one lie, wherever it
shows, and no page of that class is claimed on the server's word.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import cached_property
from itertools import pairwise, starmap
from typing import Any, NamedTuple

from sharc_crawler.addresses.urls import url_class
from sharc_crawler.evidence import audit
from sharc_crawler.evidence.headers import is_part
from sharc_crawler.evidence.intervals import DATE_PRECISION
from sharc_crawler.evidence.judgement import ONCE, of_comparison
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.lag import learned
from sharc_crawler.evidence.lastmods import (
    Download,
    Lastmod,
    Readings,
    Weighed,
    alike,
    anywhere,
    differ,
    download_of,
    header_lastmod,
    offset,
    weigh,
)
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.rows_by_page import Downloads, FewByPage, Lastmods
from sharc_crawler.model import (
    Change,
    Comparison,
    Hints,
    Instant,
    Judgement,
    Kind,
    Outcome,
    PageId,
    Result,
    Seconds,
    Verdict,
)
from sharc_crawler.rates.history import SiteHistory
from sharc_crawler.rates.trust import LastmodTrust, forget_classes, trust


class _Audited(NamedTuple):
    """Audited pages, by what their downloads show."""

    same: set[PageId]  #: bytes
    changed: set[PageId]
    alike: set[PageId]  #: other bytes, the same content


class Attestations:
    """Downloads, lastmods, and the trust that a capture puts in these."""

    def __init__(self, history: SiteHistory, share: float, late: Seconds) -> None:
        self._history = history
        self.share = share  #: of the pages claimed on the server's word that is audited
        self.lag: Seconds = math.ceil(max(late, learned(history)))  #: after which a sitemap has told of a change
        self.downloads = Downloads()
        self.lastmods = Lastmods()
        self.embedded: dict[PageId, Download] = {}  #: resources, by their first download
        self.once: FewByPage[bool] = FewByPage()  #: visited in one slot only
        self._further: FewByPage[Judgement] = FewByPage()  # what the last further download said
        self.doubts: dict[PageId, Judgement] = {}  #: what the revisit said, where that was not "coherent"
        self.audited: set[PageId] = set()
        self._could: FewByPage[bool] = FewByPage()  # have been drawn for that
        self._honest: set[str] = set()  # kinds that had owned up to a change by then
        self._named: set[PageId] = set()  # of the audited: they have been asked for
        self._strata: FewByPage[str] = FewByPage()
        self._seed: int | str = 0  # of the lots
        self.changed: dict[PageId, Instant] = {}  #: since a former capture saw them, then
        self.sitemaps: dict[PageId, Instant] = {}  #: those that could be read, and when last
        self._behind: Seconds = 0.0  # least that the sitemaps' clock is ahead of ours
        self._readings, self._recorded = Readings(), Readings()  # as they were made, and as records show them
        self._trusts: dict[str, LastmodTrust] = {}
        self._doubted: set[str] = set()  # classes that something speaks against
        self.sampled = audit.Sampled([])  #: of what was judged last

    # -- what is known ---------------------------------------------------------------------------------------------

    def ingest(self, page: PageId, read: Instant, lastmod: Instant, precision: Seconds) -> None:
        """A sitemap that was asked for at ``read`` says when a page last changed."""
        self.lastmods.add(page, Lastmod(read, lastmod, lastmod + precision))

    def read(self, sitemap: PageId, outcome: Outcome) -> None:
        """A sitemap was read: it will be read again, and its server's clock is known."""
        if outcome.result is not Result.OK:
            return
        self.sitemaps[sitemap] = outcome.started
        self._behind = clock[0] if (clock := offset(download_of(outcome))) else 0.0
        self._readings.add(sitemap, outcome)
        self._recorded.add(sitemap, outcome._replace(ended=outcome.started))

    def as_of(self, sitemap: PageId, outcome: Outcome) -> Instant:
        """Up to when an answer shows what a sitemap says: it may be the copy that came before."""
        return self._readings.until(sitemap, outcome)

    def downloaded(self, page: PageId, outcome: Outcome, once: bool, former: bool = False) -> None:
        """A page was downloaded; or, by a ``former`` capture, it had been."""
        if once:
            self.once[page] = True
        if outcome.result is Result.OK and not is_part(outcome):
            self.downloads.add(page, download_of(outcome, former=former))
        elif outcome.result in (Result.GONE, Result.REDIRECTED) and page in self.downloads:
            self.downloads.add(page, download_of(outcome)._replace(away=True))

    def visited(self, page: PageId, kind: Kind, outcome: Outcome, once: bool, former: bool = False) -> None:
        """A page or a resource was downloaded first."""
        if kind is Kind.PAGE:
            self.downloaded(page, outcome, once, former)
        elif not is_part(outcome):
            self.embedded[page] = download_of(outcome)

    def revisited(self, page: PageId, outcome: Outcome, judgement: Judgement) -> bool:
        """A page was downloaded again; False: by bytes, or by 304, it is finished."""
        if judgement.reason != Reason.STALE:  # a copy of before T is no audit
            self.downloaded(page, outcome, once=False)
        self._further[page] = judgement
        if page in self.once:  # an audit, which says nothing of T by itself
            return True
        if judgement.verdict is Verdict.COHERENT:
            return False
        self.doubts[page] = judgement
        return True

    # -- trust -----------------------------------------------------------------------------------------------------

    def begin(self, urls: Mapping[PageId, str], now: Instant) -> None:
        """What speaks against the lastmods of each class, by the history and by the sitemaps that have been read."""
        said = ((url, self._last(page)) for page, url in urls.items() if page in self.lastmods)
        lastmods = ((url, one.earliest - self._behind, one.latest - one.earliest) for url, one in said)
        self._trusts = {verdict.label: verdict for verdict in trust(self._history.sitemap_read(now, lastmods))}
        self._doubted = {label for label, verdict in self._trusts.items() if verdict.reason is not None}
        forget_classes()

    def objections(self) -> Iterator[str]:
        """Which lastmods are not believed from the beginning, and why."""
        return (verdict.objection for _, verdict in sorted(self._trusts.items()) if verdict.reason is not None)

    def trusted(self, url: str) -> bool:
        """Does nothing speak against the class of a URL? (Classes that were never heard of: nothing does.)"""
        return not self._doubted or url_class(url) not in self._doubted

    @cached_property
    def _earned(self) -> frozenset[str]:
        """Classes of which captures saw a change, and whose lastmods told of each: this time's are only words."""
        return frozenset(one.label for one in trust(self._history) if one.checks and one.believed)

    def attestable(self, page: PageId, url: str, now: Instant) -> bool:
        """May a page be expected to be claimed by its lastmod? One of today, to the day, cannot."""
        return page in self.lastmods and anywhere(self._last(page)).latest < now + self._behind and self.trusted(url)

    def unchanged_since(self, page: PageId, url: str, look: Outcome) -> bool:
        """Does a believed word say that a page is as a former capture has it?

        Of a class that has earned it: of a change that captures saw, at least, its lastmods told, and they hid none.
        """
        if page not in self.lastmods or not self.trusted(url) or url_class(url) not in self._earned:
            return False
        said = self.lastmods[page]
        found = weigh([download_of(look)], said, self._last(page).read, clock=self._readings.clock)
        return found.comparison.change is Change.UNCHANGED

    def last_said(self, page: PageId) -> Hints | None:
        """What was said of a page last, as a rate is asked for with."""
        if page not in self.lastmods:
            return None
        last = self._last(page)
        return Hints(last.earliest, last.latest - last.earliest)

    def _last(self, page: PageId) -> Lastmod:
        return max(self.lastmods[page])

    # -- at T ------------------------------------------------------------------------------------------------------

    def since_visit(self, page: PageId, url: str, reference: Instant) -> Change:
        """What believed words say of the time between a page's visit and T."""
        if page not in self.downloads or not self.trusted(url):
            return Change.UNKNOWN
        return self._first(page, reference).change

    def lost(self, url: Callable[[PageId], str], reference: Instant) -> list[PageId]:
        """Pages visited once, before T, and changed since, as they say."""
        return [
            page
            for page in self.once
            if len(self.downloads.get(page, ())) == 1 and self.since_visit(page, url(page), reference) is Change.CHANGED
        ]

    def undated(self, pages: Sequence[PageId]) -> list[PageId]:
        """Those of these pages whose last download did not say when they changed: a sitemap has to, and soon."""
        return [page for page in pages if header_lastmod(self.downloads[page][-1]) is None]

    # -- the audit -------------------------------------------------------------------------------------------------

    def draw(self, urls: Mapping[PageId, str], seed: int | str) -> None:
        """The strata of the pages that lastmods tell of, and what lots are drawn by, before any is visited."""
        trusted = {page: url for page, url in urls.items() if self.trusted(url)} if self._doubted else urls
        self._strata = FewByPage(audit.strata(trusted, audit.SMALL).items())
        self._seed = seed

    def draw_more(self, urls: Mapping[PageId, str]) -> None:
        """Strata of further pages, too: a sitemap may yet tell of them."""
        for page, url in urls.items():
            if page not in self._strata and self.trusted(url):
                self._strata[page] = f"{url_class(url)} found on the way"

    def sample(self, reference: Instant) -> list[PageId]:
        """The pages to download once more: of those that were visited before T, once, and are not known to have changed
        since, the first of each kind by their lots.

        Where so many others were downloaded again at T that both would be more than twice the audit's share, fewer. And
        fewer, first of the kinds that have owned up to changes, where all would be too large a share of the pages.
        """
        own = [page for page in self.once if page in self.downloads]
        self._could = FewByPage(
            (page, True)
            for page in own
            if page in self._strata
            and self.downloads[page][0].ended <= reference
            and self._told(page)
            and not self._changed(page, reference)
        )
        found = audit.sample(self._strata, self.share, self._seed, self._could) if self._could else set()
        again = sum(len(self.downloads[page]) > 1 for page in own if page not in found)
        self._honest = {
            self._strata[page] for page, said in self.lastmods.items() if page in self._strata and _moved(said)
        }
        self.audited = self._fewer(found, len(own), again)
        return sorted(self.audited)

    def _fewer(self, found: set[PageId], pages: int, again: int) -> set[PageId]:
        most = int(2 * self.share * pages) - again  # or less than none: there is a least of each kind
        room = max(audit.LEAST, int(audit.MOST * pages))
        return audit.fewer(self._strata, found, most, self._seed, self._honest, room, self.share)

    def next_audits(self, reference: Instant, told: bool) -> list[PageId]:
        """Of the audited pages those to download once more now, each named once; ``told``: all that the sitemaps say
        of former ones is known.

        Of each kind one after the other (of large ones a quarter more each time): a lie spares the rest of its kind.
        Whether a page that changed was lied about the sitemaps have yet to say; the rest of its kind waits for that, if
        it never owned up to a change so far, and if it is not less than reading these costs.
        """
        kinds: dict[str, list[PageId]] = defaultdict(list)
        for page in self.audited or self.sample(reference):
            kinds[self._strata[page]].append(page)
        now: list[PageId] = []
        waiting: list[PageId] = []
        for kind, pages in kinds.items():
            seen = [page for page in pages if len(self.downloads[page]) > 1]
            left = sorted(self.audited.intersection(pages) - self._named - set(seen), key=self._visited_at)
            if any(self._weighed(page, reference).lies for page in pages):  # as it is judged
                continue
            if told or kind in self._honest:
                now += left
            elif any(differ(*self.downloads[page][:2]) for page in seen):
                waiting += left
            else:
                now += left[: max(1, len(seen) // 4)]
        if not self.sitemaps or len(waiting) < len(self.sitemaps):
            now += waiting
        self._named.update(now)
        return now

    def _visited_at(self, page: PageId) -> Instant:
        return self.downloads[page][0].started

    def _told(self, page: PageId) -> bool:
        """Whether anything has said when a page changed."""
        return page in self.lastmods or header_lastmod(self.downloads[page][0]) is not None

    def _changed(self, page: PageId, reference: Instant) -> bool:
        return self._first(page, reference).change is Change.CHANGED

    def _first(self, page: PageId, reference: Instant) -> Comparison:
        """What is said of a page's first download alone."""
        return weigh(
            self.downloads[page][:1], self.lastmods.get(page, ()), reference, clock=self._readings.clock
        ).comparison

    def _weighed(self, page: PageId, reference: Instant) -> Weighed:
        return self._by_both(page, self.downloads[page], reference)

    def _by_both(self, page: PageId, downloads: Sequence[Download], reference: Instant) -> Weighed:
        """By how long downloads took, and by the records, which do not say that: a claim has to hold by both."""
        said = self.lastmods.get(page, ())
        found = weigh(downloads, said, reference, self.lag, self._readings.clock)
        recorded = weigh([*map(_as_recorded, downloads)], said, reference, self.lag, self._recorded.clock)
        if found.comparison == recorded.comparison or not found.comparison.evidence.dated:
            return found
        return found._replace(comparison=Comparison.unknown(Reason.LASTMOD_OPEN))

    # -- judgements ------------------------------------------------------------------------------------------------

    def judge(self, urls: Mapping[PageId, str], reference: Instant) -> tuple[FewByPage[Judgement], dict[str, Any]]:
        """All that is left to judge, and what the audit found, as the report tells it."""
        weighed: FewByPage[Weighed] = FewByPage((page, self._weighed(page, reference)) for page in self.downloads)
        kinds = ((page, self._strata.get(page) or url_class(url)) for page, url in urls.items() if page in weighed)
        labels: FewByPage[str] = FewByPage(kinds)
        lies = Counter(label for page, label in labels.items() if weighed[page].lies) + self._hidden(labels)
        seen = self._seen()
        whys = {label: f"{number} caught in this capture" for label, number in lies.items() if number}
        whys = _unproved(seen, labels) | whys
        found = (self._judge(page, url, weighed.get(page), labels, whys, reference) for page, url in urls.items())
        judged = FewByPage(zip(urls, found, strict=True))
        return judged, self._summary(weighed, judged, labels, lies, urls, seen)

    def judge_embedded(self, urls: Mapping[PageId, str], reference: Instant) -> dict[PageId, Judgement]:
        """Resources that were downloaded after T, once: by their own Last-Modified, where it decides."""
        found = {}
        for page, url in urls.items():
            look = self.embedded.get(page)
            shown = self._by_both(page, [look], reference).comparison if look else None
            if shown is not None and shown.change is Change.UNCHANGED and self.trusted(url):
                found[page] = of_comparison(shown)
        return found

    def _judge(
        self,
        page: PageId,
        url: str,
        weighed: Weighed | None,
        labels: Mapping[PageId, str],
        whys: Mapping[str, str],
        reference: Instant,
    ) -> Judgement:
        around, doubt = self._around(page, reference), self.doubts.get(page)
        if weighed is None or (around and around.verdict is Verdict.COHERENT):
            return around or doubt or ONCE
        label, trusted, found = labels[page], self._trusts.get(url_class(url)), weighed.comparison
        own = "its own downloads have other bytes and the same content" if self._has(alike, page) else None
        why = own or whys.get(label) or (trusted.reason if trusted else None)
        if found.change is Change.UNKNOWN:
            return around or doubt or of_comparison(found)
        if why:
            return around or doubt or _unknown(Reason.NOT_BELIEVED.of(f"{label} are not believed: {why}"))
        if around and (found.change is Change.CHANGED or self._in_doubt(page)):
            return around
        return of_comparison(found)

    def _hidden(self, labels: Mapping[PageId, str]) -> Counter[str]:
        """Pages that changed since a former capture, and keep a lastmod from before it, by kind.

        A sitemap that is late tells of some of a kind's changes, one that lies of none: only that counts.
        """
        told, hidden = Counter[str](), Counter[str]()
        for page, seen in self.changed.items():
            if page in labels:
                latest = max(anywhere(one).latest for one in self.lastmods[page]) - self._behind
                (told if latest > seen - DATE_PRECISION else hidden)[labels[page]] += 1
        return Counter({label: number for label, number in hidden.items() if label not in told})

    def _around(self, page: PageId, reference: Instant) -> Judgement | None:
        """A judgement by bytes and what is said beside them, where there are downloads on both sides of T."""
        downloads = self.downloads.get(page, ())
        if len(downloads) < 2 or not downloads[0].ended <= reference <= downloads[-1].started:
            return None
        return self._further.get(page)

    def _summary(
        self,
        weighed: Mapping[PageId, Weighed],
        judged: Mapping[PageId, Judgement],
        labels: Mapping[PageId, str],
        lies: Counter[str],
        urls: Mapping[PageId, str],
        seen: _Audited,
    ) -> dict[str, Any]:
        lying = {page for page in seen.changed if weighed[page].lies}
        attested = [page for page, one in judged.items() if one.evidence.dated and one.verdict is Verdict.COHERENT]
        provisional = [page for page in attested if judged[page].evidence is Evidence.PROVISIONAL]
        confirmed = {page for page in seen.same if page in labels}
        claimed, shown = (Counter(labels[page] for page in pages) for pages in (attested, confirmed))
        lost, since = self._named.difference(*seen), seen.changed - lying
        left = (page for page in attested if page not in confirmed)
        self.sampled = self._sampled(left, confirmed, since | lost | seen.alike, lying)
        return {
            "of": audit.LASTMODS,
            "share": self.share,
            "claimed": len(attested),
            "provisional": len(provisional),
            "lag": self.lag,
            "audited": sum(map(len, seen)),
            "changed": len(seen.changed),
            "lies": len(lying),
            "unshown": {"since": len(since), "lost": len(lost), "alike": len(seen.alike)},
            "unaudited": audit.unaudited(attested, confirmed, lambda page: (labels[page], url_class(urls[page]))),
            "bound": audit.bound(self.sampled),
            "confidence": audit.CONFIDENCE,
            "strata": [
                audit.row(audit.LASTMODS, label, claimed, shown, lies)
                for label in sorted({*claimed, *shown, *(label for label in lies if lies[label])})
            ],
            "classes": [
                {**asdict(verdict), "believed": verdict.believed}
                for _, verdict in sorted(self._trusts.items())
                if verdict.values
            ],
        }

    def _seen(self) -> _Audited:
        """The audited pages that show something."""
        seen = {page for page in self.audited if self._shows(page)}
        changed, other = ({page for page in seen if self._has(how, page)} for how in (differ, alike))
        return _Audited(seen - changed - other, changed, other - changed)

    def _shows(self, page: PageId) -> bool:
        """Was it downloaded again, and changed or not? Headers may say that the same bytes changed and back."""
        return len(self.downloads[page]) > 1 and (self._in_doubt(page) is None or self._has(differ, page))

    def _has(self, other: Callable[[Download, Download], bool], page: PageId) -> bool:
        """Is one of its downloads so beside the one before?"""
        return any(starmap(other, pairwise(self.downloads[page])))

    def _in_doubt(self, page: PageId) -> Judgement | None:
        """What was said of its last download, if that contradicts the word that it stayed."""
        last = self._further.get(page)
        return last if last is not None and last.reason in (Reason.OTHER_ETAG, Reason.LATER_MODIFIED) else None

    def _sampled(self, *found: Iterable[PageId]) -> audit.Sampled:
        """By the strata that the audit drew from: claimed and not confirmed, confirmed, drawn but neither, and lies.

        A page that could not be had again, or changed since T as it says itself, shows nothing: a server may refuse, or
        date so, just what changed. And once it has seen the sample it may own up to changes of others, true or not:
        what a stratum was drawn from stays what it was.
        """
        left, shown, unshown, lies = (Counter(map(self._stratum, pages)) for pages in found)
        could = Counter(map(self._stratum, self._could))
        kept = [
            audit.Stratum(left[one], 0)
            if lies[one]
            else audit.Stratum(
                left[one], shown[one], unshown[one], max(0, could[one] - left[one] - shown[one] - unshown[one])
            )
            for one in {*left, *shown, *unshown, *lies}
        ]
        return audit.Sampled(kept, len(lies))

    def _stratum(self, page: PageId) -> tuple[str, bool]:
        """A page's stratum, and whether it could have been drawn of it: not if it was downloaded again at T."""
        drawable = page in self._could and (page in self.audited or len(self.downloads[page]) == 1)
        return self._strata.get(page, ""), drawable


def _unproved(seen: _Audited, labels: Mapping[PageId, str]) -> dict[str, str]:
    """Why the word for some kinds is not believed: more of their audited pages had other bytes than the same."""
    same, other = (Counter(labels[page] for page in pages if page in labels) for pages in (seen.same, seen.alike))
    return {
        label: f"{number} audited had other bytes and the same content, more than the same bytes"
        for label, number in other.items()
        if number > same[label]
    }


def _moved(said: Sequence[Lastmod]) -> bool:
    """Did a page ever own up to a change?"""
    return any(one.earliest != said[0].earliest for one in said)


def _as_recorded(download: Download) -> Download:
    return download._replace(ended=download.started)


def _unknown(reason: str) -> Judgement:
    return Judgement(Verdict.UNKNOWN, Evidence.NONE, reason)
