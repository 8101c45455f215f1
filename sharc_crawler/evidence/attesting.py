"""Lastmods of one capture's pages, and the audit that tests them.

A page may be claimed on the server's word (:mod:`..evidence.lastmods`) if nothing speaks against its class of URLs. At
the end a share of such pages is downloaded once more, and the sitemaps are read once more. One lie, wherever it shows,
and no page of that class is claimed on the server's word.
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
    """Audited pages by the result of their downloads."""

    same: set[PageId]  #: same bytes
    changed: set[PageId]
    alike: set[PageId]  #: other bytes, the same content


class Attestations:
    """A capture's downloads and lastmods, its trust in these, and their audit."""

    def __init__(self, history: SiteHistory, share: float, late: Seconds) -> None:
        self._history = history
        self.share = share  #: audited share of the pages claimed on the server's word
        self.lag: Seconds = math.ceil(max(late, learned(history)))  #: after which sitemaps should show a change
        self.downloads = Downloads()
        self.lastmods = Lastmods()
        self.embedded: dict[PageId, Download] = {}  #: resources, by their first download
        self.once: FewByPage[bool] = FewByPage()  #: pages visited in one slot only
        self._further: FewByPage[Judgement] = FewByPage()  # judgement of the last further download
        self.doubts: dict[PageId, Judgement] = {}  #: judgements of revisits other than "coherent"
        self.audited: set[PageId] = set()
        self._could: FewByPage[bool] = FewByPage()  # pages that could have been drawn
        self._honest: set[str] = set()  # strata whose lastmods had shown a change by the draw
        self._named: set[PageId] = set()  # audited pages requested so far
        self._strata: FewByPage[str] = FewByPage()
        self._seed: int | str = 0  # of the draw
        self.changed: dict[PageId, Instant] = {}  #: pages changed since a former capture saw them at this instant
        self.sitemaps: dict[PageId, Instant] = {}  #: sitemaps read, and when last
        self._behind: Seconds = 0.0  # minimum by which the sitemaps' clock is ahead of ours
        self._readings, self._recorded = Readings(), Readings()  # as made, and as records show them
        self._trusts: dict[str, LastmodTrust] = {}
        self._doubted: set[str] = set()  # classes not trusted
        self.sampled = audit.Sampled([])  #: result of the last audit

    # -- observations ----------------------------------------------------------------------------------------------

    def ingest(self, page: PageId, read: Instant, lastmod: Instant, precision: Seconds) -> None:
        """Enter a page's lastmod in a sitemap requested at ``read``."""
        self.lastmods.add(page, Lastmod(read, lastmod, lastmod + precision))

    def read(self, sitemap: PageId, outcome: Outcome) -> None:
        """Enter a sitemap's reading, which also shows its server's clock."""
        if outcome.result is not Result.OK:
            return
        self.sitemaps[sitemap] = outcome.started
        self._behind = clock[0] if (clock := offset(download_of(outcome))) else 0.0
        self._readings.add(sitemap, outcome)
        self._recorded.add(sitemap, outcome._replace(ended=outcome.started))

    def as_of(self, sitemap: PageId, outcome: Outcome) -> Instant:
        """Return the instant up to which an answer shows the sitemap's state: it may be an old copy."""
        return self._readings.until(sitemap, outcome)

    def downloaded(self, page: PageId, outcome: Outcome, once: bool, former: bool = False) -> None:
        """Enter a page's download, perhaps one of a ``former`` capture."""
        if once:
            self.once[page] = True
        if outcome.result is Result.OK and not is_part(outcome):
            self.downloads.add(page, download_of(outcome, former=former))
        elif outcome.result in (Result.GONE, Result.REDIRECTED) and page in self.downloads:
            self.downloads.add(page, download_of(outcome)._replace(away=True))

    def visited(self, page: PageId, kind: Kind, outcome: Outcome, once: bool, former: bool = False) -> None:
        """Enter the first download of a page or resource."""
        if kind is Kind.PAGE:
            self.downloaded(page, outcome, once, former)
        elif not is_part(outcome):
            self.embedded[page] = download_of(outcome)

    def revisited(self, page: PageId, outcome: Outcome, judgement: Judgement) -> bool:
        """Enter a page's second download; return ``False`` if it decides the page, by bytes or 304."""
        if judgement.reason != Reason.STALE:  # a copy from before T audits nothing
            self.downloaded(page, outcome, once=False)
        self._further[page] = judgement
        if page in self.once:  # an audit alone does not show T
            return True
        if judgement.verdict is Verdict.COHERENT:
            return False
        self.doubts[page] = judgement
        return True

    # -- trust -----------------------------------------------------------------------------------------------------

    def begin(self, urls: Mapping[PageId, str], now: Instant) -> None:
        """Decide which classes of lastmods are trusted, by the history and the sitemaps read so far."""
        dated = ((url, self._last(page)) for page, url in urls.items() if page in self.lastmods)
        lastmods = ((url, last.earliest - self._behind, last.latest - last.earliest) for url, last in dated)
        self._trusts = {verdict.label: verdict for verdict in trust(self._history.sitemap_read(now, lastmods))}
        self._doubted = {label for label, verdict in self._trusts.items() if verdict.reason is not None}
        forget_classes()

    def objections(self) -> Iterator[str]:
        """Yield which lastmods are not trusted from the beginning, and why."""
        return (verdict.objection for _, verdict in sorted(self._trusts.items()) if verdict.reason is not None)

    def trusted(self, url: str) -> bool:
        """Is the class of a URL trusted? Unknown classes are."""
        return not self._doubted or url_class(url) not in self._doubted

    @cached_property
    def _earned(self) -> frozenset[str]:
        """Classes in which former captures saw changes, and lastmods showed each of them."""
        return frozenset(known.label for known in trust(self._history) if known.checks and known.believed)

    def attestable(self, page: PageId, url: str, now: Instant) -> bool:
        """Can a page probably be claimed by its lastmod? Not if that is a bare date of today."""
        return page in self.lastmods and anywhere(self._last(page)).latest < now + self._behind and self.trusted(url)

    def unchanged_since(self, page: PageId, url: str, look: Outcome) -> bool:
        """Does a trusted lastmod say that a page is unchanged since a former capture?

        Its class must have earned that trust: former captures saw changes, and lastmods showed each of them.
        """
        if page not in self.lastmods or not self.trusted(url) or url_class(url) not in self._earned:
            return False
        lastmods = self.lastmods[page]
        found = weigh([download_of(look)], lastmods, self._last(page).read, clock=self._readings.clock)
        return found.comparison.change is Change.UNCHANGED

    def last_hints(self, page: PageId) -> Hints | None:
        """Return a page's last lastmod as hints, for its rate."""
        if page not in self.lastmods:
            return None
        last = self._last(page)
        return Hints(last.earliest, last.latest - last.earliest)

    def _last(self, page: PageId) -> Lastmod:
        return max(self.lastmods[page])

    # -- at T ------------------------------------------------------------------------------------------------------

    def since_visit(self, page: PageId, url: str, reference: Instant) -> Change:
        """Return whether a page changed between its visit and T, by trusted lastmods."""
        if page not in self.downloads or not self.trusted(url):
            return Change.UNKNOWN
        return self._first(page, reference).change

    def lost(self, url: Callable[[PageId], str], reference: Instant) -> list[PageId]:
        """Return pages visited once, before T, that changed since by trusted lastmods."""
        return [
            page
            for page in self.once
            if len(self.downloads.get(page, ())) == 1 and self.since_visit(page, url(page), reference) is Change.CHANGED
        ]

    def undated(self, pages: Sequence[PageId]) -> list[PageId]:
        """Return the pages whose last download has no Last-Modified: they need a sitemap's lastmod soon."""
        return [page for page in pages if header_lastmod(self.downloads[page][-1]) is None]

    # -- the audit -------------------------------------------------------------------------------------------------

    def draw(self, urls: Mapping[PageId, str], seed: int | str) -> None:
        """Set the strata of pages with lastmods, and the seed of the draw, before any visit."""
        trusted = {page: url for page, url in urls.items() if self.trusted(url)} if self._doubted else urls
        self._strata = FewByPage(audit.strata(trusted, audit.SMALL).items())
        self._seed = seed

    def draw_more(self, urls: Mapping[PageId, str]) -> None:
        """Set the strata of pages found later, which may get lastmods."""
        for page, url in urls.items():
            if page not in self._strata and self.trusted(url):
                self._strata[page] = f"{url_class(url)} found on the way"

    def sample(self, reference: Instant) -> list[PageId]:
        """Draw the pages to download once more, from those visited once, before T, and not known to have changed since.

        Fewer are drawn if, with those downloaded again at T, they would exceed twice the audit's share. Fewer are
        drawn, first from strata whose lastmods showed changes, if they would be too large a share of all pages.
        """
        own = [page for page in self.once if page in self.downloads]
        self._could = FewByPage(
            (page, True)
            for page in own
            if page in self._strata
            and self.downloads[page][0].ended <= reference
            and self._dated(page)
            and not self._changed(page, reference)
        )
        found = audit.sample(self._strata, self.share, self._seed, self._could) if self._could else set()
        again = sum(len(self.downloads[page]) > 1 for page in own if page not in found)
        moved = (page for page, lastmods in self.lastmods.items() if page in self._strata and _moved(lastmods))
        self._honest = {self._strata[page] for page in moved}
        self.audited = self._fewer(found, len(own), again)
        return sorted(self.audited)

    def _fewer(self, found: set[PageId], pages: int, again: int) -> set[PageId]:
        most = int(2 * self.share * pages) - again  # may be negative: each stratum has a minimum
        room = max(audit.LEAST, int(audit.MOST * pages))
        return audit.fewer(self._strata, found, most, self._seed, self._honest, room, self.share)

    def next_audits(self, reference: Instant, told: bool) -> list[PageId]:
        """Return the audited pages to download now, each once; ``told``: sitemaps were read after the former ones.

        Pages of a stratum come one after the other (of large ones a quarter more each time), as a lie saves the rest.
        If a page changed, only sitemaps can show whether its lastmod lied. The rest of its stratum waits for them,
        unless lastmods of the stratum have shown changes, or the rest costs less than reading the sitemaps.
        """
        kinds: dict[str, list[PageId]] = defaultdict(list)
        for page in self.audited or self.sample(reference):
            kinds[self._strata[page]].append(page)
        now: list[PageId] = []
        waiting: list[PageId] = []
        for kind, pages in kinds.items():
            seen = [page for page in pages if len(self.downloads[page]) > 1]
            left = sorted(self.audited.intersection(pages) - self._named - set(seen), key=self._visited_at)
            if any(self._weighed(page, reference).lies for page in pages):
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

    def _dated(self, page: PageId) -> bool:
        """Has a page a lastmod, of a sitemap or its own?"""
        return page in self.lastmods or header_lastmod(self.downloads[page][0]) is not None

    def _changed(self, page: PageId, reference: Instant) -> bool:
        return self._first(page, reference).change is Change.CHANGED

    def _first(self, page: PageId, reference: Instant) -> Comparison:
        """Weigh a page's first download alone."""
        return weigh(
            self.downloads[page][:1], self.lastmods.get(page, ()), reference, clock=self._readings.clock
        ).comparison

    def _weighed(self, page: PageId, reference: Instant) -> Weighed:
        return self._by_both(page, self.downloads[page], reference)

    def _by_both(self, page: PageId, downloads: Sequence[Download], reference: Instant) -> Weighed:
        """Weigh downloads with their durations, and as records show them, without: a claim must hold by both."""
        lastmods = self.lastmods.get(page, ())
        found = weigh(downloads, lastmods, reference, self.lag, self._readings.clock)
        without = [download._replace(ended=download.started) for download in downloads]
        recorded = weigh(without, lastmods, reference, self.lag, self._recorded.clock)
        if found.comparison == recorded.comparison or not found.comparison.evidence.dated:
            return found
        return found._replace(comparison=Comparison.unknown(Reason.LASTMOD_OPEN))

    # -- judgements ------------------------------------------------------------------------------------------------

    def judge(self, urls: Mapping[PageId, str], reference: Instant) -> tuple[FewByPage[Judgement], dict[str, Any]]:
        """Judge all pages left, and return the judgements and the audit's result for the report."""
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
        """Judge resources with one download by their own Last-Modified, if that decides."""
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
        """Count, by stratum, pages changed since a former capture whose lastmod is older than it.

        A late sitemap shows some of a stratum's changes, one that lies shows none: only the latter is counted.
        """
        shown, hidden = Counter[str](), Counter[str]()
        for page, seen in self.changed.items():
            if page in labels:
                latest = max(anywhere(lastmod).latest for lastmod in self.lastmods[page]) - self._behind
                (shown if latest > seen - DATE_PRECISION else hidden)[labels[page]] += 1
        return Counter({label: number for label, number in hidden.items() if label not in shown})

    def _around(self, page: PageId, reference: Instant) -> Judgement | None:
        """Return the judgement by bytes, if there are downloads on both sides of T."""
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
        coherent = (page for page, found in judged.items() if found.verdict is Verdict.COHERENT)
        attested = [page for page in coherent if judged[page].evidence.dated]
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
        """Return the audited pages that show something."""
        seen = {page for page in self.audited if self._shows(page)}
        changed, other = ({page for page in seen if self._has(how, page)} for how in (differ, alike))
        return _Audited(seen - changed - other, changed, other - changed)

    def _shows(self, page: PageId) -> bool:
        """Does its second download show anything? Not if headers say that it changed and changed back."""
        return len(self.downloads[page]) > 1 and (self._in_doubt(page) is None or self._has(differ, page))

    def _has(self, other: Callable[[Download, Download], bool], page: PageId) -> bool:
        """Does this hold for a page's download and the one before it?"""
        return any(starmap(other, pairwise(self.downloads[page])))

    def _in_doubt(self, page: PageId) -> Judgement | None:
        """Return the last download's judgement, if its headers contradict equal bytes."""
        last = self._further.get(page)
        return last if last is not None and last.reason in (Reason.OTHER_ETAG, Reason.LATER_MODIFIED) else None

    def _sampled(self, *found: Iterable[PageId]) -> audit.Sampled:
        """Sum up the audit by stratum: pages claimed and not confirmed, confirmed, drawn but neither, and lies.

        A page that failed, or changed since T by its own lastmod, shows nothing: a server may refuse, or date so, just
        the pages that changed. Once it has seen the sample it may admit changes of other pages, true or not: so the set
        that a stratum was drawn from stays fixed.
        """
        left, shown, unshown, lies = (Counter(map(self._stratum, pages)) for pages in found)
        could = Counter(map(self._stratum, self._could))
        kept = [
            audit.Stratum(left[key], 0)
            if lies[key]
            else audit.Stratum(
                left[key], shown[key], unshown[key], max(0, could[key] - left[key] - shown[key] - unshown[key])
            )
            for key in {*left, *shown, *unshown, *lies}
        ]
        return audit.Sampled(kept, len(lies))

    def _stratum(self, page: PageId) -> tuple[str, bool]:
        """Return a page's stratum, and whether it could have been drawn: not if it was downloaded again at T."""
        drawable = page in self._could and (page in self.audited or len(self.downloads[page]) == 1)
        return self._strata.get(page, ""), drawable


def _unproved(seen: _Audited, labels: Mapping[PageId, str]) -> dict[str, str]:
    """Return why strata are not trusted: more audited pages had other bytes (and the same content) than equal ones."""
    same, other = (Counter(labels[page] for page in pages if page in labels) for pages in (seen.same, seen.alike))
    return {
        label: f"{number} audited had other bytes and the same content, more than the same bytes"
        for label, number in other.items()
        if number > same[label]
    }


def _moved(lastmods: Sequence[Lastmod]) -> bool:
    """Did a page's lastmod ever change?"""
    return any(lastmod.earliest != lastmods[0].earliest for lastmod in lastmods)


def _unknown(reason: str) -> Judgement:
    return Judgement(Verdict.UNKNOWN, Evidence.NONE, reason)
