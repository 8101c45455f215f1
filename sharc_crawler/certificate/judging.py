"""Judging a page again, from the records of its downloads alone, by the rules that judged it in the crawl."""

from __future__ import annotations

import math
from functools import cache, partial
from typing import IO, TYPE_CHECKING, Any

from sharc_crawler.certificate.witness import Finding
from sharc_crawler.changes.http import target
from sharc_crawler.changes.status import classify
from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.evidence.headers import header_text, of_headers
from sharc_crawler.evidence.judgement import APEX, ONCE, Revisits, is_apex
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason, code
from sharc_crawler.instants import unix
from sharc_crawler.model import Judgement, Kind, Outcome, Result, Slot, Url, Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from sharc_crawler.certificate.entries import PageEntries
    from sharc_crawler.certificate.lastmods import ServersWord
    from sharc_crawler.certificate.witness import RecordedExchange, Witness
    from sharc_crawler.changes.http import HttpResponse

    Entry = Mapping[str, Any]

_NO_ANSWER = (Result.FAILED, Result.REFUSED)
_CONDITIONS = {b"etag": b"if-none-match", b"last-modified": b"if-modified-since"}


class Judge:
    """Judges the pages of a certificate from what the WARC files say (``witness``).

    ``references``: T of each subsite that has one. ``former``: other captures of the archive, which payloads that are
    stored there are looked up in. ``warcs``: the sitemaps in them are read when the first verdict rests on what
    they say of pages' last changes; ``entries``: its pages and resources, which are no sitemaps.
    """

    def __init__(
        self,
        witness: Witness,
        former: Witness,
        references: Mapping[str, str],
        warcs: Mapping[str, Callable[[], IO[bytes]]],
        entries: PageEntries,
    ) -> None:
        self._word = cache(partial(_servers_word, witness, warcs, entries))
        self._entries = entries
        self._witness = witness
        self._former = former
        self._references = references
        self._revisits = Revisits()
        self.findings: list[Finding] = []
        self.elsewhere = 0  #: payloads that are in no capture at hand

    def pages(self) -> Iterator[tuple[Entry, PageFacts]]:
        """Each page as the records show it, in the order of the revisits; what was stated otherwise is found."""
        for entry in self._entries:
            visit = self._download(entry, "visit")
            if visit is not None and visit.result is Result.OK:
                self._revisits.visited(entry["visit"]["uri"], visit)
        self.findings.clear()  # they are met again
        self.elsewhere = 0
        for entry in self._entries.by_revisit():
            yield entry, self._page(entry, *self._downloads(entry))

    def _downloads(self, entry: Entry) -> tuple[Outcome | None, Outcome | None, bool]:
        """Visit and revisit, and whether they are as stated."""
        before = len(self.findings)
        first, second = (self._download(entry, part) for part in ("visit", "revisit"))
        return first, second, len(self.findings) == before

    def _page(self, entry: Entry, first: Outcome | None, second: Outcome | None, as_stated: bool) -> PageFacts:
        judgement = self._judgement(entry, first, second) if as_stated else _stated(entry)
        shown = PageFacts(
            url=Url(entry["url"]),
            kind=Kind(entry["kind"]),
            via="",
            depth=0,
            rate=0.0,
            rate_source="",
            visit=_facts(entry["visit"], first),
            revisit=_facts(entry.get("revisit"), second),
            verdict=judgement.verdict if "verdict" in entry else None,
            evidence=judgement.evidence,
            reason=judgement.reason,
        )
        if "verdict" in entry:
            again = judgement.verdict.value, judgement.evidence.value, code(judgement.reason)
            self._compare(entry, dict(zip(("verdict", "evidence", "reason"), again, strict=True)))
        return shown

    # -- downloads ---------------------------------------------------------------------------------------------------

    def _download(self, entry: Entry, part: str) -> Outcome | None:
        """How a download ended, by its record; where there is none, as stated."""
        stated = entry.get(part)
        if stated is None:
            return None
        result = Result(stated["result"])
        if stated["file"] is None and result in _NO_ANSWER:
            return Outcome(result, unix(stated["date"]), 0.0)
        exchange = self._witness.find(stated["file"], stated["offset"], (stated["uri"], stated["date"]))
        if exchange is None:
            self._find(stated, entry, f"the record of its {part} is missing")
            return Outcome(result, unix(stated["date"]), 0.0)
        outcome = self._outcome(exchange, result)
        status = exchange.message.status if exchange.message else None
        shown: dict[str, object] = {"date": exchange.date, "uri": exchange.uri, "result": outcome.result.value}
        shown |= (
            {"status": status, "digest": outcome.digest}
            if exchange.message and outcome.result is not Result.FAILED
            else {}
        )
        for name, value in shown.items():
            if stated[name] != value:
                self._find(
                    stated, entry, f"{name} of its {part} is {value!r} by its record, stated is {stated[name]!r}"
                )
        return outcome

    def _outcome(self, exchange: RecordedExchange, stated: Result) -> Outcome:
        started = unix(exchange.date)
        message = exchange.message
        if message is None or (not exchange.whole and "error" in exchange.notes):
            return Outcome(stated if stated in _NO_ANSWER else Result.FAILED, started, started)
        location = target(exchange.uri, message.header(b"location"))
        result = classify(message.status, location)
        known = result is not Result.NOT_MODIFIED and exchange.whole
        digest, unpacked = self._digests(exchange) if known else (None, None)
        return Outcome(
            result,
            started,
            started,
            status=message.status,
            digest=digest,
            decoded=unpacked,
            location=location,
            **of_headers(partial(_header, message)),
        )

    def _digests(self, exchange: RecordedExchange) -> tuple[str | None, str | None]:
        """Of the payload, as sent and unpacked, wherever it is stored: a revisit record's own word is not enough."""
        if exchange.holder is None:
            return exchange.digest, exchange.decoded
        holder = self._witness.of(exchange.holder) or self._former.of(exchange.holder)
        if holder is None:
            self.elsewhere += 1
            return exchange.digest, None
        if holder.kind != "response" or holder.digest != exchange.digest:
            what = f"it refers to {' of '.join(reversed(exchange.holder))} for a payload that is not there"
            self.findings.append(Finding(what, exchange.file, exchange.offset, exchange.uri))
        return holder.digest, holder.decoded

    # -- judgements --------------------------------------------------------------------------------------------------

    def _judgement(self, entry: Entry, first: Outcome | None, second: Outcome | None) -> Judgement:
        stated = _stated(entry)
        if stated.evidence is Evidence.ATTESTED:
            return self._attested(entry, [one for one in (first, second) if one])
        audited = second is not None and entry["visit"]["slot"] == Slot.ONLY
        if audited and stated.verdict is Verdict.UNKNOWN and stated.evidence is Evidence.NONE:
            return stated
        if second is None or first is None:
            if stated.verdict is Verdict.UNKNOWN and stated.evidence is Evidence.NONE:
                return stated  # one download shows nothing, whatever the reason
            apex = entry["visit"]["slot"] == Slot.ONLY and entry["visit"]["date"] == self._references.get(
                entry["subsite"]
            )
            return APEX if apex and first is not None and is_apex(Slot.ONLY, first) else ONCE
        if stated.verdict is Verdict.UNKNOWN and entry["reason"] == Reason.NOT_MODIFIED_LIES:
            return stated  # less than the records show is claimed
        if second.result is Result.NOT_MODIFIED and not self._asked(entry):
            return Judgement(Verdict.UNKNOWN, Evidence.NONE, Reason.UNASKED_304)
        instant = self._references.get(entry["subsite"])
        reference = unix(instant) if instant else None
        return self._revisits.judge(entry["visit"]["uri"], first, second, reference)

    def _attested(self, entry: Entry, outcomes: list[Outcome]) -> Judgement:
        """By what the sitemaps, and the downloads' own headers, say of the page's last change."""
        downloads = []
        for part, outcome in zip(("visit", "revisit"), outcomes, strict=False):
            exchange = self._exchange(entry[part])
            if outcome.result is Result.OK and exchange is not None:
                downloads.append((exchange, outcome.decoded or outcome.digest))
        instant = self._references.get(entry["subsite"])
        return self._word().judge(entry["url"], downloads, unix(instant) if instant else math.inf)

    def _exchange(self, part: Entry) -> RecordedExchange | None:
        return self._witness.find(part["file"], part["offset"], (part["uri"], part["date"]))

    def _asked(self, entry: Entry) -> bool:
        """Whether the revisit's request carried a validator that the visit had brought."""
        visit, revisit = (self._exchange(entry[part]) for part in ("visit", "revisit"))
        if visit is None or revisit is None or visit.message is None:
            return False
        sent = dict(line.partition(b":")[::2] for line in revisit.request.lower().split(b"\r\n")[1:])
        return any(
            (value := visit.message.header(name)) is not None and sent.get(header, b"").strip() == value.strip().lower()
            for name, header in _CONDITIONS.items()
        )

    def _compare(self, entry: Entry, shown: Mapping[str, str]) -> None:
        for name, value in shown.items():
            if entry[name] != value:
                self._find(entry["visit"], entry, f"{name} is {value!r} by the records, stated is {entry[name]!r}")

    def _find(self, stated: Entry | None, entry: Entry, what: str) -> None:
        place = stated or {}
        self.findings.append(Finding(what, place.get("file"), place.get("offset"), entry["url"]))


def _servers_word(witness: Witness, warcs: Mapping[str, Callable[[], IO[bytes]]], entries: PageEntries) -> ServersWord:
    from sharc_crawler.certificate.lastmods import ServersWord  # sitemaps are read only where a verdict rests on them

    return ServersWord(witness, warcs, {entry["url"] for entry in entries})


def _stated(entry: Entry) -> Judgement:
    return Judgement(Verdict(entry.get("verdict", "unknown")), Evidence(entry.get("evidence", "none")), entry["reason"])


def _facts(stated: Entry | None, outcome: Outcome | None) -> VisitFacts | None:
    if stated is None or outcome is None:
        return None
    return VisitFacts(
        Slot(stated["slot"]), outcome.result, outcome.started, outcome.ended, outcome.status, outcome.digest
    )


def _header(message: HttpResponse, name: str) -> str | None:
    return header_text(message.header(name.lower().encode()))
