"""The audit of 304s: a sample of each kind of URLs is downloaded once more and compared by bytes.

A 304 is a lie if the page's bytes differ though the server called it unmodified (or would, as it sends the same
validators again). Then no page of its kind is claimed on a 304. It is not a lie if the page may have changed after the
304: if it is gone, or has other validators and no date from before the 304. That is only the server's word, so the
bound counts such pages as possibly wrong; if there are more of them than confirmed ones, no page of their kind is
claimed. Weak validators may stay the same though bytes change. If the sample shows that, it is not a lie, but no page
of the kind is claimed on them. The same holds for ETags shared by pages with other bytes. Other bytes with the same
content (a nonce, a generation time) are neither lie nor proof: scripts or masks may hide changes. They make validators
weak; if there are more of them than equal bytes, no page of their kind is claimed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from sys import intern
from typing import Any

from sharc_crawler.addresses.urls import url_class
from sharc_crawler.changes.http import http_date
from sharc_crawler.evidence import audit
from sharc_crawler.evidence.intervals import DATE_PRECISION
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import RARE, Reason
from sharc_crawler.evidence.validators import weak
from sharc_crawler.evidence.worded import code
from sharc_crawler.model import Instant, Judgement, Outcome, PageId, Result, Verdict

WEAK = " (weak)"  #: marks strata with weak validators
SHARED = 3  #: contents with the same ETag that make it count as weak: it may be that of a build
_SUMS = "claimed", "audited", "changed", "lies", "unaudited"


class Conditionals:
    """The 304s of a capture and their audit."""

    def __init__(self, share: float) -> None:
        self.share = share
        self.drawn: set[PageId] = set()
        self._data: set[PageId] = set()  # data fetched by scripts
        self.open: dict[PageId, Judgement] = {}  #: judgements by 304, not trusted yet
        self._held: dict[PageId, Instant | None] = {}  # drawn pages answered 304: when, by the server's clock
        self._strata: dict[PageId, str] = {}
        self._chances: dict[str, float] = {}  # chance of being drawn, by stratum
        self._classes: dict[PageId, str] = {}
        self._confirmed: set[PageId] = set()
        self._alike: set[PageId] = set()  # drawn: other bytes, the same content
        self._changed: set[PageId] = set()
        self._lies: set[PageId] = set()
        self._missed: set[PageId] = set()  # other bytes, the same weak validators
        self._tokens: set[PageId] = set()  # other bytes, the same validators and the same content
        self._doubted: set[str] = set()  # strata not trusted at the last judgement

    def draw(
        self,
        urls: Mapping[PageId, str],
        seed: int | str,
        data: Set[PageId] = frozenset(),
        faint: Set[PageId] = frozenset(),
    ) -> set[PageId]:
        """Draw the pages, among those with validators, to download in full after a 304; deterministic.

        Pages of earlier parts of the site are skipped: they were drawn from before. ``faint``: pages whose validators
        are weak, or shared by other pages; they have strata of their own.
        """
        others = {page: url for page, url in urls.items() if page not in self._strata}
        classes = {page: intern(url_class(url)) for page, url in others.items()}
        strata: dict[PageId, str] = {}
        for mark in "", WEAK:
            same = {page: url for page, url in others.items() if (page in faint) == bool(mark)}
            labels = audit.strata(same, classes=[classes[page] for page in same])
            strata |= {page: f"{label or '*'}{mark}" if mark else label for page, label in labels.items()}
        drawn, chances = audit.by_lots(strata, self.share, seed, self._chances)
        self._chances |= chances
        self._strata |= strata
        self._classes |= classes
        self.drawn |= drawn
        self._data |= data
        return drawn

    def asks_again(self, page: PageId, outcome: Outcome) -> bool:
        """Must a page that was answered 304 be downloaded in full?"""
        if page not in self.drawn or page in self._held:
            return False
        self._held[page] = outcome.date
        return True

    def revisited(
        self, page: PageId, visit: Outcome, revisit: Outcome, judgement: Judgement, *, alike: bool = False
    ) -> bool:
        """Enter a revisit; return ``True`` if its judgement rests only on the server's word.

        ``alike``: both downloads have the same content, whatever their bytes.
        """
        same = judgement.verdict is Verdict.COHERENT
        other = _is_other(revisit, judgement)
        if page in self._held and revisit.result is not Result.NOT_MODIFIED:
            if same:
                self._confirmed.add(page)
            elif other and alike:
                self._alike.add(page)
            elif other:
                self._changed.add(page)
        if other and alike:
            self._tokens.add(page)
        elif other and (_would_match(visit, revisit) or self._changed_before(page, revisit)):
            (self._missed if weak(visit) else self._lies).add(page)
        if code(judgement.reason) == Reason.UNASKED_304:
            self._lies.add(page)
        stated = same and judgement.evidence.stated
        if stated:
            self.open[page] = judgement
        return stated

    def _changed_before(self, page: PageId, revisit: Outcome) -> bool:
        """Had the page changed before its 304, by its own Last-Modified?"""
        modified, held = http_date(revisit.validators.last_modified), self._held.get(page)
        return modified is not None and held is not None and modified < held - DATE_PRECISION

    def judge(self, pages: Iterable[PageId]) -> dict[PageId, Judgement]:
        """Judge the pages left open by a 304, and earlier ones whose stratum is newly doubted."""
        doubted = {self._stratum(page) for page in self._lies | self._missed | self._tokens}
        doubted |= self._mostly_unshown().keys()
        news, self._doubted = doubted - self._doubted, doubted
        again = (page for page in self.open if self._stratum(page) in news) if news else ()
        return self._judged([*pages, *again])

    def _judged(self, pages: Iterable[PageId]) -> dict[PageId, Judgement]:
        lies, missed = self._caught()
        tokens = set(map(self._stratum, self._tokens))
        doubtful, whys, found = self._mostly_unshown(), dict[str, str](), {}
        for page in pages:
            if (judgement := self.open.get(page)) is not None:
                label = self._stratum(page)
                if label not in whys:
                    caught = _counted(("caught lying", lies), ("changed, with the same weak validators", missed), label)
                    both = ", ".join(filter(None, (caught, doubtful.get(label, ""))))
                    whys[label] = Reason.NOT_MODIFIED_DOUBTED.of(f"{label or RARE} ({both})") if both else ""
                if why := whys[label]:
                    found[page] = Judgement(Verdict.UNKNOWN, Evidence.NONE, why)
                else:
                    faint = label in tokens or label.endswith(WEAK)
                    found[page] = replace(judgement, evidence=Evidence.WEAK_VALIDATOR) if faint else judgement
        return found

    def _since(self) -> set[PageId]:
        """Return drawn pages that changed around their 304: only their server knows whether before or after it."""
        return self._changed - self._lies - self._missed

    def _mostly_unshown(self) -> dict[str, str]:
        """Return strata with fewer confirmed pages than unshown ones, each with the numbers in words."""
        found = self._confirmed, self._since(), self._alike
        shown, since, alike = (Counter(map(self._stratum, pages)) for pages in found)
        whys = ("changed just before it or since", since), ("with other bytes and the same content", alike)
        mostly = (label for label, number in (since + alike).items() if number > shown[label])
        return {label: f"{_counted(*whys, label)}, more than stayed" for label in mostly}

    def _caught(self) -> tuple[Counter[str], Counter[str]]:
        """Return the numbers of lies, and of changes that weak validators missed, by stratum."""
        return Counter(map(self._stratum, self._lies)), Counter(map(self._stratum, self._missed))

    def summary(self) -> dict[str, Any] | None:
        """Return the audit's result for the report; ``None`` if nothing was claimed on a 304."""
        return self._found()[0] if self.open else None

    def beside(self, other: dict[str, Any], sampled: audit.Sampled) -> dict[str, Any]:
        """Return the result joined with that of an audit of lastmods (``other``), with one bound over both."""
        if not self.open:
            return other
        found, mine = self._found()
        sums = {name: other[name] + found[name] for name in _SUMS}
        bound = audit.bound(sampled, mine)
        unshown = {why: number + found["unshown"][why] for why, number in other["unshown"].items()}
        own = {"unshown": unshown} | ({"data": found["data"]} if "data" in found else {})
        return {**other, **sums, **own, "bound": bound, "strata": other["strata"] + found["strata"]}

    def _found(self) -> tuple[dict[str, Any], audit.Sampled]:
        lies = self._caught()[0]
        believed = {page for page, found in self._judged(self.open).items() if found.verdict is Verdict.COHERENT}
        claimed = Counter(map(self._stratum, believed))
        shown = Counter(map(self._stratum, self._confirmed))
        # A page that failed, or changed since by its own date, shows nothing: a server may refuse, or date so, just the
        # pages that changed.
        lost = self._held.keys() - self._confirmed - self._changed - self._alike
        since = self._since()
        caught = {self._stratum(page) for page in (self._lies | self._missed) & self.drawn}
        unshown = Counter(map(self._stratum, lost | since | self._alike))
        kept = [
            audit.Stratum(claimed[label], shown[label], unshown[label], chance=chance)
            for label, chance in self._chances.items()
            if label not in caught
        ]
        sampled = audit.Sampled(kept, len(caught), watched=True)
        summary = {
            "of": audit.CONDITIONALS,
            "share": self.share,
            "claimed": claimed.total(),
            "audited": len(self._confirmed | self._changed | self._alike),
            "changed": len(self._changed),
            "lies": len(self._lies & self.drawn),
            "unshown": {"since": len(since), "lost": len(lost), "alike": len(self._alike)},
            "unaudited": audit.unaudited(believed, self._confirmed, self._kind),
            "bound": audit.bound(sampled),
            "confidence": audit.CONFIDENCE,
            "strata": [
                audit.row(audit.CONDITIONALS, label, claimed, shown, lies)
                for label in sorted({*claimed, *shown, *lies})
            ],
            "classes": [],
        }
        if data := len(self._data & believed):
            summary["data"] = data
        return summary, sampled

    def _kind(self, page: PageId) -> tuple[str, str]:
        """Return stratum and class: small classes share a stratum."""
        return self._stratum(page), self._classes.get(page, "")

    def _stratum(self, page: PageId) -> str:
        return self._strata.get(page, "")


def faint(visits: Iterable[tuple[PageId, Outcome]]) -> set[PageId]:
    """Return pages with weak validators; an ETag that several contents share is weak, too."""
    found: set[PageId] = set()
    borne: dict[PageId, int] = {}
    met, contents = set[int](), Counter[int]()  # by the ETag's hash: the texts of a million pages are large
    for page, visit in visits:
        if weak(visit):
            found.add(page)
        elif visit.validators.etag:
            borne[page] = etag = hash(visit.validators.etag)
            contents[etag] += (content := hash((etag, visit.digest))) not in met
            met.add(content)
    return found | {page for page, etag in borne.items() if contents[etag] >= SHARED}


def _counted(first: tuple[str, Counter[str]], second: tuple[str, Counter[str]], label: str) -> str:
    """Return the numbers of a stratum's pages in words."""
    return ", ".join(f"{numbers[label]} {what}" for what, numbers in (first, second) if numbers[label])


def _is_other(revisit: Outcome, judgement: Judgement) -> bool:
    """Has a full revisit another content than the visit, or none?"""
    if revisit.result in (Result.GONE, Result.REDIRECTED):
        return judgement.verdict is Verdict.CHANGED
    return code(judgement.reason) in (Reason.OTHER_BYTES, Reason.OTHER_TYPE)


def _would_match(visit: Outcome, revisit: Outcome) -> bool:
    """Would the server have answered 304 to the visit's validators, judging by those that it sends now?

    >>> from sharc_crawler.model import Outcome, Validators
    >>> one, other = (Outcome(Result.OK, 0, 1, validators=Validators(etag)) for etag in ('"1"', '"2"'))
    >>> _would_match(one, one), _would_match(one, other), _would_match(Outcome(Result.OK, 0, 1), one)
    (True, False, False)
    """
    before, after = visit.validators, revisit.validators
    if not before:
        return False
    if before.etag:
        return before.etag == after.etag
    return before.last_modified == after.last_modified
