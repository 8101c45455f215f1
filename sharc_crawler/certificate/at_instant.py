"""Certify a site at any instant: for each page, compare the last download before it with the first one after it.

The captures' certificates list the downloads; the WARC files hold what each of them brought. If the two downloads are
visit and revisit of one capture, that capture's judgement of a 304 counts. Where bytes do not decide, lastmods may:
only if captures audited their sitemaps, and neither these audits nor any two downloads contradict them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple, TypeVar

from sharc_crawler.addresses.urls import url_class
from sharc_crawler.certificate.canonical import DIGEST, digest
from sharc_crawler.certificate.document import LIMITS, unit
from sharc_crawler.certificate.judging import Judge
from sharc_crawler.certificate.lastmods import ServersWord
from sharc_crawler.certificate.material import LONGEST_LINE, PageEntries, text_lines
from sharc_crawler.certificate.witness import RecordedExchange
from sharc_crawler.changes.http import HttpResponse
from sharc_crawler.evidence.data import DataState, redirected, with_data
from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
from sharc_crawler.evidence.figures import PageSums
from sharc_crawler.evidence.headers import is_part
from sharc_crawler.evidence.intervals import DATE_PRECISION
from sharc_crawler.evidence.judgement import LATE_DOWNLOAD, NEVER_REVISITED, Revisits, is_apex
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.lastmods import Download
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.validators import weak
from sharc_crawler.evidence.worded import code
from sharc_crawler.instants import iso
from sharc_crawler.model import Instant, Judgement, Kind, Outcome, Result, Slot, Url, Verdict

Entry = Mapping[str, Any]

Written = TypeVar("Written")
FORMAT = "sharc-certificate-at"
VERSION = 1
_SHOWS_NOTHING = (Result.FAILED, Result.REFUSED)
_NOT_MODIFIED = 304


@dataclass(slots=True)
class ReadCapture:
    """A capture whose certificate holds."""

    name: str  #: of its folder, within the collection's
    document: Mapping[str, Any]  #: its certificate
    entries: PageEntries
    judge: Judge  #: judges from its records
    answer: Callable[[RecordedExchange], HttpResponse | None]  #: reads an exchange's answer


class Next(NamedTuple):
    """The download of a page that is closest to the instant, on one side of it."""

    capture: ReadCapture
    entry: Entry  #: what the certificate says of the page
    stated: Entry  #: what it says of the download
    outcome: Outcome  #: by its record

    @property
    def away(self) -> bool:
        """Whether the page was gone or redirected."""
        return self.outcome.result in (Result.GONE, Result.REDIRECTED)

    def place(self) -> dict[str, Any]:
        """The download as the certificate for the instant names it."""
        return {"capture": self.capture.name, **self.stated}

    def facts(self) -> VisitFacts:
        """The download as facts that can be summed."""
        result, started, ended, status, digest, *_ = self.outcome
        return VisitFacts(Slot(self.stated["slot"]), result, started, ended, status, digest, age=self.outcome.age)


class _Mention(NamedTuple):
    """Where a capture's file of pages lists a download: all that is kept in memory of it."""

    capture: ReadCapture
    line: int  #: offset of its page's line
    number: int  #: of the download, among the page's
    started: Instant

    def read(self) -> Next:
        """Read the download and its record again."""
        entry = _at(self.capture.entries, self.line)
        part, stated = _stated(entry)[self.number]
        outcome = self.capture.judge.download(entry, stated, part)
        assert stated is not None and outcome is not None, "it was read before"
        return Next(self.capture, entry, stated, outcome)


@dataclass(slots=True)
class _Around:
    """A page, with its downloads around the instant."""

    kind: Kind
    before: _Mention | None = None
    after: _Mention | None = None
    data: tuple[Url, ...] = ()

    def meet(self, one: _Mention, result: Result, instant: Instant) -> None:
        """Take a download, if it is closer to the instant than those met before."""
        started, earlier, later = one.started, self.before, self.after
        unseen = result is Result.NOT_MODIFIED  # a revisit's 304: the visit's content was the last that was seen
        if started <= instant and not unseen and (earlier is None or started > earlier.started):
            self.before = one
        if started >= instant and (later is None or started < later.started):
            self.after = one

    def looks(self) -> tuple[Next | None, Next | None]:
        """The downloads before and after, read from their records."""
        return self.before and self.before.read(), self.after and self.after.read()


def certificate_at(
    site: str,
    instant: Instant,
    captures: Sequence[ReadCapture],
    word: Callable[[], ServersWord],
    others: Sequence[Mapping[str, Any]] = (),
    write: Callable[[Iterator[Entry]], Written] = list,  # type: ignore[assignment]
) -> tuple[dict[str, Any], Written]:
    """The certificate of an instant, still without its file of pages, and what ``write`` returned for these pages.

    ``write`` is given the pages' entries in turn. ``word`` reads what the captures' sitemaps say of pages' last
    changes. ``others``: certificates of further captures of the site, which may have caught its sitemaps lying.
    """
    sums, documents = PageSums(instant), [*(one.document for one in captures), *others]
    pages = _pages(instant, captures, _AuditedWord(documents, word), lied=any(map(_lied, documents)))
    written = write(_summed(pages, sums))
    notes = tuple(note for one in captures for note in one.document["capture"]["notes"])  # the weakest capture counts
    facts = CaptureFacts(site, (), "", instant, instant, instant, (), notes=notes)
    named = [{"name": one.name, "digest": one.document[DIGEST]} for one in captures]
    document = {
        "format": FORMAT,
        "version": VERSION,
        "captures": named,
        **unit(site, facts, sums),
        "limits": list(LIMITS),
    }
    return document, written


def _summed(pages: Iterator[tuple[Entry, PageFacts]], sums: PageSums) -> Iterator[Entry]:
    """Pass the entries on, and add each page to the sums."""
    for entry, page in pages:
        if page.kind is Kind.PAGE:
            sums.add(page)
        elif page.kind is Kind.DATA:
            sums.narrow(page)
        yield entry


def sealed(document: Mapping[str, Any], pages: Mapping[str, Any]) -> dict[str, Any]:
    """The document with its file of pages, and with its digest."""
    whole = {**document, "pages": dict(pages)}
    return {**whole, DIGEST: digest(whole)}


def _lied(document: Mapping[str, Any]) -> bool:
    """Did a capture catch the server's 304s lying, or could most of them have been lies?"""
    audit = document["capture"]["audit"] or {"strata": []}
    unshown = audit.get("unshown", {})
    other = unshown.get("alike", 0)
    if unshown.get("since", 0) + other > audit.get("audited", 0) - audit.get("changed", 0) - other:
        return True  # more of the sampled pages changed in between, or had other bytes, than stayed the same
    return any(one["of"] == "304" and one["caught"] for one in audit["strata"])


class _AuditedWord:
    """What the sitemaps say, for classes of URLs where nothing contradicts them."""

    def __init__(self, documents: Sequence[Mapping[str, Any]], word: Callable[[], ServersWord]) -> None:
        """``documents``: certificates of captures, with the results of their audits."""
        audits = [audit for one in documents if (audit := one["capture"]["audit"] or {}).get("of") == "lastmod"]
        caught = any(one["of"] == "lastmod" and one["caught"] for audit in audits for one in audit["strata"])
        classes = [one for audit in audits for one in audit["classes"]]
        self._believed = set() if caught else {one["label"] for one in classes if one["believed"]}
        self._believed -= {one["label"] for one in classes if not one["believed"]}
        self._word = cache(word)

    def hold_against(self, around: Mapping[Url, _Around]) -> None:
        """Drop a class of URLs if one of its pages differs between two downloads and its lastmod did not change.

        What a capture's own masks ignore counts as a difference, too.
        """
        for url, own in around.items():
            if (label := url_class(url)) not in self._believed:
                continue
            looks = [one for one in own.looks() if one]
            differ = len({(one.outcome.result, one.outcome.digest) for one in looks}) > 1
            if differ and self._word().belied(url, _downloads(looks, contents=True)):
                self._believed.discard(label)

    def judge(self, url: Url, looks: Sequence[Next], instant: Instant) -> Judgement | None:
        """A judgement by lastmods, if they show that the page is coherent; else ``None``.

        They do not say when a page disappeared, and 304s are judged by other rules.
        """
        if url_class(url) not in self._believed or any(one.outcome.result is not Result.OK for one in looks):
            return None
        found = self._word().judge(url, _downloads(looks), instant)
        return found if found.verdict is Verdict.COHERENT else None


def _downloads(looks: Sequence[Next], *, contents: bool = False) -> list[Download]:
    """A page's downloads, to be compared with its lastmods; ``contents``: with fingerprints of their bodies."""
    from sharc_crawler.certificate.lastmods import content_of  # which reads sitemaps
    from sharc_crawler.evidence.lastmods import download_of

    downloads = []
    for one in looks:
        exchange = one.capture.judge.exchange(one.stated)
        if exchange is not None and not is_part(one.outcome):
            content = content_of(one.capture.answer(exchange)) if contents and not one.away else None
            downloads.append(download_of(one.outcome)._replace(content=content, away=one.away))
    return downloads


def _pages(
    instant: Instant, captures: Sequence[ReadCapture], word: _AuditedWord, *, lied: bool
) -> Iterator[tuple[Entry, PageFacts]]:
    """Each page and resource: data first (pages are judged with it), then by the time of the second download."""
    around = _met(instant, captures)
    word.hold_against(around)
    judged = _Judged(instant, around, word, lied=lied)
    for url in sorted(around, key=lambda url: (around[url].kind is not Kind.DATA, _started(around[url].after))):
        yield judged.page(url)


def _met(instant: Instant, captures: Sequence[ReadCapture]) -> dict[Url, _Around]:
    around: dict[Url, _Around] = {}
    for capture in captures:
        for line, entry in _placed(capture.entries):
            own = around.setdefault(entry["url"], _Around(Kind(entry["kind"])))
            own.data += tuple(url for url in entry.get("data", ()) if url not in own.data)
            for number, (part, stated) in enumerate(_stated(entry)):
                if stated and "server" in stated:  # a former capture's download: that capture lists it itself
                    continue
                outcome = capture.judge.download(entry, stated, part)
                if stated and outcome and outcome.result not in _SHOWS_NOTHING:
                    own.meet(_Mention(capture, line, number, outcome.started), outcome.result, instant)
    return around


def _placed(entries: PageEntries) -> Iterator[tuple[int, Entry]]:
    """Each entry with the offset of its line."""
    place = 0
    with entries.opened() as stream:
        for line in text_lines(stream):
            yield place, json.loads(line)
            place += len(line)


def _at(entries: PageEntries, place: int) -> Entry:
    """The entry whose line begins at an offset."""
    with entries.opened() as stream:
        stream.seek(place)
        found: Entry = json.loads(stream.readline(LONGEST_LINE))
    return found


def _stated(entry: Entry) -> list[tuple[str, Entry | None]]:
    """The downloads of a page that its certificate states: (which one, what is stated)."""
    former = (("former visit", one) for one in entry.get("former", ()))
    return [*former, ("visit", entry["visit"]), ("revisit", entry.get("revisit"))]


def _started(one: _Mention | None) -> Instant:
    return one.started if one else 0.0


class _Judged:
    """Judges pages by the same rules as a capture does."""

    def __init__(self, instant: Instant, around: Mapping[Url, _Around], word: _AuditedWord, *, lied: bool) -> None:
        self._instant, self._around, self._word, self._lied = instant, around, word, lied
        self._revisits = Revisits()
        self._data: dict[Url, DataState] = {}
        for before in (one.before.read() for one in around.values() if one.before):
            if before.outcome.result is Result.OK:
                self._revisits.visited(before.stated["uri"], before.outcome)

    def page(self, url: Url) -> tuple[Entry, PageFacts]:
        """A page as an entry of the certificate, and as facts that can be summed."""
        own = self._around[url]
        before, after = own.looks()
        entry: dict[str, Any] = {"url": url, "kind": own.kind.value}
        if before is None or before.outcome.result is not Result.OK:
            reason = _why_missing(before)
            led = before and redirected(before.outcome.result, before.outcome.status)
            if own.kind is Kind.DATA and led:
                self._data[url] = DataState(led, self._instant)
            return {**entry, "reason": code(reason)}, PageFacts(url, own.kind, "", 0, 0.0, "", reason=reason)
        judgement = self._judgement(before, after)
        if judgement.verdict is not Verdict.COHERENT:
            judgement = self._word.judge(url, [one for one in (before, after) if one], self._instant) or judgement
        judgement = self._with_data(own, judgement)
        looks = [] if judgement.evidence.dated else [before.facts(), *([after.facts()] if after else [])]
        if own.kind is Kind.DATA:
            self._data[url] = DataState(judgement, self._instant)
        entry |= {"verdict": judgement.verdict.value, "evidence": judgement.evidence.value}
        entry |= {"reason": code(judgement.reason), "before": before.place(), "after": after and after.place()}
        facts = PageFacts(
            url, own.kind, "", 0, 0.0, "",
            visit=looks[0] if looks else None, revisit=looks[1] if looks[1:] else None,
            verdict=judgement.verdict, evidence=judgement.evidence, reason=judgement.reason,
        )  # fmt: skip
        return entry, facts

    def _judgement(self, before: Next, after: Next | None) -> Judgement:
        if before.outcome.started == self._instant and is_apex(Slot.ONLY, before.outcome):
            return self._revisits.apex(before.stated["uri"], before.outcome)
        if self._is_late(before):
            return LATE_DOWNLOAD
        if after is None:
            return NEVER_REVISITED
        found = self._revisits.judge(before.stated["uri"], before.outcome, after.outcome, self._instant)
        if after.outcome.result is Result.NOT_MODIFIED and found.reason != Reason.STALE:
            said = after.entry  # to the revisit of a capture that visited the page before
            if before.stated["digest"] != said["visit"]["digest"]:  # another capture downloaded it in between
                return Judgement(Verdict.CHANGED, Evidence.BYTES, Reason.OTHER_BYTES)
            return Judgement(Verdict(said["verdict"]), Evidence(said["evidence"]), said["reason"])
        told = after.outcome.status == _NOT_MODIFIED
        return self._not_modified(before, after) if told and found.verdict is Verdict.COHERENT else found

    def _is_late(self, before: Next) -> bool:
        """Was it requested before the instant, but answered after it? Records lack the duration; its Date tells."""
        date, ahead = before.outcome.date, self._revisits.clocks.ahead(before.stated["uri"], self._instant)
        return date is not None and ahead is not None and date - ahead > self._instant + DATE_PRECISION

    def _not_modified(self, before: Next, after: Next) -> Judgement:
        """Judge a page for which a later capture got a 304: no second copy was compared.

        If either capture found the validator weak (several contents share it), it is weak here, too.
        """
        if self._lied:
            return Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.NOT_MODIFIED_DOUBTED)
        called = any(one.entry.get("evidence") == Evidence.WEAK_VALIDATOR for one in (before, after))
        evidence = Evidence.WEAK_VALIDATOR if called or weak(before.outcome) else Evidence.VALIDATOR
        return Judgement(Verdict.COHERENT, evidence, Reason.NOT_MODIFIED)

    def _with_data(self, own: _Around, judgement: Judgement) -> Judgement:
        listed = [url for url in own.data if url in self._data]
        return with_data(judgement, self._instant, listed, self._data)[0] if listed else judgement


def _why_missing(before: Next | None) -> Reason:
    """Why a page is missing: gone or redirected at its last download before the instant, or not known yet."""
    if before is None:
        return Reason.LATE
    return Reason.GONE if before.outcome.result is Result.GONE else Reason.REDIRECTED


def name_at(site: str, instant: Instant) -> str:
    """The name of its file.

    >>> name_at("example.org", 1795170667.25)
    'example.org-2026-11-20T103107.250000Z.json'
    """
    return f"{site}-{iso(instant).replace(':', '')}.json"
