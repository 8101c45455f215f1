"""What the server of one capture says of its pages' last changes, and what bytes say of the server.

A page of a class of URLs that nothing speaks against may be claimed on the server's word (:mod:`..evidence.lastmods`).
At the end a share of such pages is downloaded once more and the sitemaps are read once more; one lie, wherever it
shows, and no page of that class is claimed on the server's word.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from itertools import pairwise, starmap
from typing import TYPE_CHECKING, Any

import numpy as np

from sharc_crawler.changes.http_date import http_date
from sharc_crawler.evidence import audit
from sharc_crawler.evidence.judgement import ONCE, OTHER_BYTES, SAME_BYTES
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.lastmods import Download, Lastmod, differ, header_lastmod, offset, weigh
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Change, Judgement, Kind, Result, Verdict
from sharc_crawler.rates.trust import trust, url_class

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from sharc_crawler.evidence.lastmods import Weighed
    from sharc_crawler.model import Instant, Outcome, PageId, Rate, Seconds
    from sharc_crawler.rates.history import SiteHistory
    from sharc_crawler.rates.trust import Trust


class Attestations:
    """Downloads, lastmods, and the trust that a capture puts in these."""

    def __init__(self, history: SiteHistory, share: float) -> None:
        self._history = history
        self.share = share  #: of the pages claimed on the server's word that is audited
        self.downloads: dict[PageId, list[Download]] = {}
        self.lastmods: dict[PageId, list[Lastmod]] = {}
        self.embedded: dict[PageId, Download] = {}  #: resources, by their first download
        self.once: set[PageId] = set()  #: visited in one slot only
        self.doubts: dict[PageId, Judgement] = {}  #: what the revisit said, where that was not "coherent"
        self.audited: set[PageId] = set()
        self.sitemaps: dict[PageId, Instant] = {}  #: those that could be read, and when last
        self._behind: Seconds = 0.0  # least that the sitemaps' clock is ahead of ours
        self._trusts: dict[str, Trust] = {}

    # -- what is known ---------------------------------------------------------------------------------------------

    def ingest(self, page: PageId, read: Instant, lastmod: Instant, precision: Seconds) -> None:
        """A sitemap that was asked for at ``read`` says when a page last changed."""
        self.lastmods.setdefault(page, []).append(Lastmod(read, lastmod, lastmod + precision))

    def read(self, sitemap: PageId, outcome: Outcome) -> None:
        """A sitemap was read: it will be read again, and its server's clock is known."""
        if outcome.result is Result.OK:
            self.sitemaps[sitemap] = outcome.started
            clock = offset(Download(outcome.started, outcome.ended, outcome.date))
            self._behind = clock[0] if clock else 0.0

    def downloaded(self, page: PageId, outcome: Outcome, once: bool) -> None:
        """A page was downloaded."""
        if once:
            self.once.add(page)
        if outcome.result is Result.OK:
            self.downloads.setdefault(page, []).append(_download(outcome))

    def visited(self, page: PageId, kind: Kind, outcome: Outcome, once: bool) -> None:
        """A page or a resource was downloaded first."""
        if kind is Kind.PAGE:
            self.downloaded(page, outcome, once)
        else:
            self.embedded[page] = _download(outcome)

    def revisited(self, page: PageId, outcome: Outcome, judgement: Judgement) -> bool:
        """A page was downloaded again; False: by bytes, or by 304, it is settled."""
        self.downloaded(page, outcome, once=False)
        if page in self.once:  # an audit, which says nothing of T by itself
            return True
        if judgement.verdict is Verdict.COHERENT:
            return False
        self.doubts[page] = judgement
        return True

    # -- trust -----------------------------------------------------------------------------------------------------

    def begin(self, urls: Mapping[PageId, str], now: Instant) -> None:
        """What speaks against the lastmods of each class, by the history and by the sitemaps that have been read."""
        said = {url: self._last(page) for page, url in urls.items() if page in self.lastmods}
        lastmods = {url: (one.earliest - self._behind, one.latest - one.earliest) for url, one in said.items()}
        self._trusts = {verdict.label: verdict for verdict in trust(self._history.sitemap_read(now, lastmods))}

    def trusted(self, url: str) -> bool:
        """Does nothing speak against the class of a URL? (Classes that were never heard of: nothing does.)"""
        verdict = self._trusts.get(url_class(url))
        return verdict is None or verdict.reason is None

    def attestable(self, page: PageId, url: str, now: Instant) -> bool:
        """May a page be expected to be claimed by its lastmod? One of today, to the day, cannot."""
        return page in self.lastmods and self._last(page).latest < now + self._behind and self.trusted(url)

    def _last(self, page: PageId) -> Lastmod:
        return max(self.lastmods[page])

    # -- at T ------------------------------------------------------------------------------------------------------

    def since_visit(self, page: PageId, url: str, reference: Instant) -> Change:
        """What believed words say of the time between a page's visit and T."""
        if page not in self.downloads or not self.trusted(url):
            return Change.UNKNOWN
        return weigh(self.downloads[page][:1], self.lastmods.get(page, ()), reference).comparison.change

    def lost(self, url: Callable[[PageId], str], reference: Instant) -> list[PageId]:
        """Pages visited once, before T, and changed since, as they say."""
        return [
            page
            for page in sorted(self.once)
            if len(self.downloads.get(page, ())) == 1 and self.since_visit(page, url(page), reference) is Change.CHANGED
        ]

    def undated(self, pages: Sequence[PageId]) -> list[PageId]:
        """Of these pages those whose last download did not say when they changed: a sitemap has to, and soon."""
        return [page for page in pages if header_lastmod(self.downloads[page][-1]) is None]

    # -- the audit -------------------------------------------------------------------------------------------------

    def sample(self, rates: Mapping[PageId, Rate], reference: Instant, seed: int) -> list[PageId]:
        """The pages to download once more, of those visited once and not known to have changed; always the same."""
        pages = [page for page in sorted(self.once) if page in rates and not self._changed(page, reference)]
        chosen = audit.sample(
            np.array([rates[page] for page in pages]), self.share, np.random.default_rng([seed, len(pages)])
        )
        self.audited = {pages[number] for number in chosen.tolist()}
        return sorted(self.audited, key=lambda page: -rates[page])

    def _changed(self, page: PageId, reference: Instant) -> bool:
        found = weigh(self.downloads[page][:1], self.lastmods.get(page, ()), reference)
        return found.comparison.change is Change.CHANGED

    # -- judgements ------------------------------------------------------------------------------------------------

    def judge(self, urls: Mapping[PageId, str], reference: Instant) -> tuple[dict[PageId, Judgement], dict[str, Any]]:
        """All that is left to judge, and what the audit found, as the report tells it."""
        weighed = {
            page: weigh(downloads, self.lastmods.get(page, ()), reference) for page, downloads in self.downloads.items()
        }
        labels = {page: url_class(urls[page]) for page in urls if page in weighed}
        lies = Counter(label for page, label in labels.items() if weighed[page].lies)
        judged = {page: self._judge(page, weighed.get(page), labels.get(page), lies, reference) for page in urls}
        return judged, self._summary(weighed, judged, lies, reference)

    def judge_embedded(self, urls: Mapping[PageId, str], reference: Instant) -> dict[PageId, Judgement]:
        """Resources that were downloaded after T, once: by their own Last-Modified, where it decides."""
        found = {}
        for page, url in urls.items():
            shown = weigh([look], (), reference).comparison if (look := self.embedded.get(page)) else None
            if shown is not None and shown.change is Change.UNCHANGED and self.trusted(url):
                found[page] = Judgement(Verdict.COHERENT, shown.evidence, shown.reason)
        return found

    def _judge(
        self, page: PageId, weighed: Weighed | None, label: str | None, lies: Counter[str], reference: Instant
    ) -> Judgement:
        around = self._around(page, reference)
        doubt = self.doubts.get(page)
        if around is SAME_BYTES:
            return around
        if weighed is not None and label is not None:
            trusted = self._trusts.get(label)
            why = f"{lies[label]} caught in this capture" if lies[label] else trusted.reason if trusted else None
            found = weighed.comparison
            if why and found.change is not Change.UNKNOWN:
                return around or doubt or _unknown(Reason.NOT_BELIEVED.of(f"{label} are not believed: {why}"))
            if found.change is Change.UNCHANGED:
                return Judgement(Verdict.COHERENT, found.evidence, found.reason)
            if found.change is Change.CHANGED:
                return around or Judgement(Verdict.CHANGED, found.evidence, found.reason)
            return around or doubt or _unknown(found.reason)
        return around or doubt or ONCE

    def _around(self, page: PageId, reference: Instant) -> Judgement | None:
        """By bytes, where there are downloads on both sides of T."""
        downloads = self.downloads.get(page, ())
        if len(downloads) < 2 or not downloads[0].ended <= reference <= downloads[-1].started:
            return None
        first, second = downloads[0].digest, downloads[-1].digest
        if first is None or second is None:
            return None
        return SAME_BYTES if first == second else OTHER_BYTES

    def _summary(
        self,
        weighed: Mapping[PageId, Weighed],
        judged: Mapping[PageId, Judgement],
        lies: Counter[str],
        reference: Instant,
    ) -> dict[str, Any]:
        claimed = sum(one.evidence is Evidence.ATTESTED and one.verdict is Verdict.COHERENT for one in judged.values())
        admitted = sum(page in self.once and self._changed(page, reference) for page in weighed)
        seen = [page for page in sorted(self.audited) if len(self.downloads.get(page, ())) > 1]
        changed = [page for page in seen if any(starmap(differ, pairwise(self.downloads[page])))]
        lying = sum(bool(weighed[page].lies) for page in changed)
        return {
            "share": self.share,
            "claimed": claimed,
            "admitted": admitted,
            "audited": len(seen),
            "changed": len(changed),
            "lies": lying,
            "bound": audit.bound(len(changed), lying, admitted, claimed),
            "confidence": audit.CONFIDENCE,
            "classes": [
                asdict(verdict) | {"believed": verdict.believed and not lies[label], "caught": lies[label]}
                for label, verdict in sorted(self._trusts.items())
                if verdict.values
            ],
        }


def _download(outcome: Outcome) -> Download:
    modified = http_date(outcome.validators.last_modified)
    digest = outcome.decoded or outcome.digest
    age = outcome.age or 0.0
    return Download(outcome.started, outcome.ended, outcome.date, digest, modified, outcome.fingerprint, age)


def _unknown(reason: str) -> Judgement:
    return Judgement(Verdict.UNKNOWN, Evidence.NONE, reason)
