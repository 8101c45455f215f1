"""Judge pages again from the records of their downloads, by the rules that judged them in the crawl."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from sharc_crawler.certificate.witness import Finding, RecordedExchange, Witness
from sharc_crawler.changes.http import classify, target
from sharc_crawler.evidence.facts import PageFacts, VisitFacts
from sharc_crawler.evidence.headers import of_headers
from sharc_crawler.evidence.judgement import ONCE, Revisits, is_apex
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.worded import code
from sharc_crawler.instants import unix
from sharc_crawler.model import NO_VALIDATORS, Judgement, Kind, Outcome, Result, Seconds, Slot, Url, Verdict

if TYPE_CHECKING:
    from sharc_crawler.certificate.lastmods import Recorded, ServersWord, Warcs
    from sharc_crawler.certificate.material import PageEntries
    from sharc_crawler.evidence.data import DataState

    Entry = Mapping[str, Any]

NO_ANSWER = (Result.FAILED, Result.REFUSED)
#: reasons for claiming less than the records show: a download's duration (not recorded), or records that differ
_LESS = (Reason.STALE, Reason.REFUTED, Reason.ASKED_AGAIN)


class Judge:
    """Judges the pages of a certificate from what the WARC files say (``witness``).

    ``references``: T of each subsite that has one. ``former``: records of other captures, where payloads may be stored.
    ``entries``: the certificate's pages and resources. ``word`` reads what the sitemaps say of pages' last changes
    (:func:`servers_word`), when the first verdict rests on it. ``warcs``: the files that ``witness`` was read from.
    """

    def __init__(
        self,
        witness: Witness,
        former: Witness,
        references: Mapping[str, str],
        entries: PageEntries,
        word: Callable[[], ServersWord],
        warcs: Warcs,
    ) -> None:
        self.word, self.warcs = cache(word), warcs
        self._entries = entries
        self.witness = witness
        self.former = former
        self.references = references
        self._revisits = Revisits()
        self.data: dict[Url, DataState] = {}  # as stated: each is judged again by itself
        self.findings: list[Finding] = []
        self.elsewhere = 0  #: payloads in captures that are not at hand
        self.rebuilt = False  #: does a judgement rest on answers that were not recorded from the wire?

    def pages(self) -> Iterator[tuple[Entry, PageFacts]]:
        """Each page as the records show it, in the order of the revisits; differences are added to ``findings``."""
        for entry in self._entries:
            self._before(entry)
            if entry["kind"] == Kind.DATA:
                from sharc_crawler.certificate.special_cases import data_state  # only where browsers showed pages

                if (found := data_state(self, entry)) is not None:
                    self.data[entry["url"]] = found
        self.findings.clear()  # the second walk finds them again
        self.elsewhere = 0
        for entry in self._entries.by_revisit():
            yield entry, self._page(entry, *self._downloads(entry))

    def _before(self, entry: Entry) -> None:
        """Note all visits before T: each shows the server's clock, and the last one what the page was like."""
        stated = [one for one in (*entry.get("former", ()), entry["visit"]) if one]
        last: Outcome | None = None
        for one in sorted(stated, key=lambda visit: visit["date"]):
            outcome = self.download(entry, one, "visit")
            if outcome is not None and outcome.result is Result.OK:
                self._revisits.visited(one["uri"], last := outcome)
            elif outcome is not None and last is not None:
                self._revisits.looked(one["uri"], last, outcome)

    def _downloads(self, entry: Entry) -> tuple[Outcome | None, Outcome | None, bool]:
        """Visit and revisit by their records, and whether these are as stated."""
        before = len(self.findings)
        first, second = (self.download(entry, entry.get(part), part) for part in ("visit", "revisit"))
        if entry.get("former"):
            from sharc_crawler.certificate.special_cases import check_former_visits  # only where hints asked for some

            check_former_visits(self, entry)
        return first, second, len(self.findings) == before

    def _page(self, entry: Entry, first: Outcome | None, second: Outcome | None, as_stated: bool) -> PageFacts:
        judgement = self._judgement(entry, first, second) if as_stated else self.stated(entry)
        if as_stated and "data" in entry:
            from sharc_crawler.certificate.special_cases import judged_with  # as above

            judgement = judged_with(self, entry, judgement)
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

    def download(self, entry: Entry, stated: Entry | None, part: str) -> Outcome | None:
        """How a download ended, by its record; as stated if it has none."""
        if stated is None:
            return None
        result = Result(stated["result"])
        if "server" in stated:
            from sharc_crawler.certificate.special_cases import taken  # only where former captures were relied on

            return taken(self, entry, stated)
        if stated["file"] is None and result in NO_ANSWER:
            return Outcome(result, unix(stated["date"]), 0.0)
        exchange = self.witness.find(stated["file"], stated["offset"], (stated["uri"], stated["date"]))
        if exchange is None:
            self.find(stated, entry, f"the record of its {part} is missing")
            return Outcome(result, unix(stated["date"]), 0.0)
        self.rebuilt |= exchange.rebuilt and "verdict" in entry
        outcome = self.outcome(exchange, result)
        for name, value in recorded(exchange, outcome).items():
            if stated[name] != value:
                self.find(stated, entry, f"{name} of its {part} is {value!r} by its record, stated is {stated[name]!r}")
        return outcome

    def former_of(self, stated: Entry) -> RecordedExchange | None:
        """The recorded exchange of a download in a former capture."""
        return self.former.find(stated["file"], stated["offset"], (stated["uri"], stated["date"]))

    def outcome(self, exchange: RecordedExchange, stated: Result) -> Outcome:
        """How an exchange ended, by its records."""
        started = unix(exchange.date)
        message = exchange.message
        if message is None or (not exchange.whole and "error" in exchange.notes):
            return Outcome(stated if stated in NO_ANSWER else Result.FAILED, started, started)
        location = target(exchange.uri, message.header(b"location"))
        result = classify(message.status, location)
        if result is Result.NOT_MODIFIED and exchange.digest is not None and exchange.holder is not None:
            from sharc_crawler.certificate.special_cases import unchanged  # as above

            return unchanged(self, exchange, message, exchange.holder)
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
            **of_headers(message.headers),
        )

    def _digests(self, exchange: RecordedExchange) -> tuple[str | None, str | None]:
        """Digests of the payload, as sent and unpacked: of the stored bytes, not those that a revisit record states."""
        if exchange.holder is None:
            return exchange.digest, exchange.decoded
        holder = self.witness.of(exchange.holder) or self.former.of(exchange.holder)
        if holder is None:
            self.elsewhere += not exchange.closed
            return exchange.digest, exchange.decoded
        unpacked = self._unpacked(exchange, holder)
        if holder.kind != "response" or holder.digest != exchange.digest or exchange.decoded not in (None, unpacked):
            what = f"it refers to {' of '.join(reversed(exchange.holder))} for a payload that is not there"
            self.findings.append(Finding(what, exchange.file, exchange.offset, exchange.uri))
        return holder.digest, unpacked

    def _unpacked(self, exchange: RecordedExchange, holder: RecordedExchange) -> str | None:
        """The digest of the unpacked payload; the answer that stores it may have named another content coding."""
        one, other = (each.message and each.message.values(b"content-encoding") for each in (exchange, holder))
        if one == other:
            return holder.decoded
        from sharc_crawler.certificate.special_cases import digest_anew  # hardly ever

        return digest_anew(self, exchange, holder)

    # -- judgements --------------------------------------------------------------------------------------------------

    def _judgement(self, entry: Entry, first: Outcome | None, second: Outcome | None) -> Judgement:
        stated = self.stated(entry)
        # Judged even if it is not needed: each pair tells the judge about its class of URLs.
        found = self._twice(entry, first, second) if first is not None and second is not None else None
        if stated.evidence.dated:
            from sharc_crawler.certificate.lastmods import attested  # which reads sitemaps

            return attested(self, entry, first, second)
        if first is not None and "server" in entry["visit"] and self.former_of(entry["visit"]) is None:
            return stated  # its bytes are compared with those of a former capture, which is not at hand
        nothing = stated.verdict is Verdict.UNKNOWN and stated.evidence is Evidence.NONE
        audit = second is not None and entry["visit"] is not None and entry["visit"]["slot"] == Slot.ONLY
        if nothing and (audit or entry["reason"] == Reason.NOT_MODIFIED_DOUBTED):
            return stated  # it claims less than the records show
        if found is None:
            return stated if nothing else self._once(entry, first)  # whatever the reason
        if nothing and entry["reason"] in _LESS:
            return stated
        if (found.evidence, stated.evidence) == (Evidence.VALIDATOR, Evidence.WEAK_VALIDATOR):
            return replace(found, evidence=stated.evidence)  # claims less, too: others of its class had other bytes
        return found

    def _once(self, entry: Entry, first: Outcome | None) -> Judgement:
        """A single download shows nothing, unless it was made at T itself."""
        visit, instant = entry["visit"], self.references.get(entry["subsite"])
        if first is None or visit["date"] != instant or not is_apex(Slot(visit["slot"]), first):
            return ONCE
        return self._revisits.apex(visit["uri"], first)

    def _twice(self, entry: Entry, first: Outcome, second: Outcome) -> Judgement:
        if second.result is Result.NOT_MODIFIED and not self._asked(entry):
            first = first._replace(validators=NO_VALIDATORS)
        instant = self.references.get(entry["subsite"])
        return self._revisits.judge(entry["visit"]["uri"], first, second, unix(instant) if instant else None)

    @staticmethod
    def stated(entry: Entry) -> Judgement:
        """What the certificate says of a page or resource."""
        verdict, evidence = entry.get("verdict", "unknown"), entry.get("evidence", "none")
        return Judgement(Verdict(verdict), Evidence(evidence), entry["reason"])

    def exchange(self, part: Entry) -> RecordedExchange | None:
        """The recorded exchange of a stated download."""
        return self.witness.find(part["file"], part["offset"], (part["uri"], part["date"]))

    def _asked(self, entry: Entry) -> bool:
        from sharc_crawler.certificate.special_cases import was_asked  # as above

        return was_asked(self, entry)

    def _compare(self, entry: Entry, shown: Mapping[str, str]) -> None:
        for name, value in shown.items():
            if entry[name] != value:
                self.find(entry["visit"], entry, f"{name} is {value!r} by the records, stated is {entry[name]!r}")

    def find(self, stated: Entry | None, entry: Entry, what: str) -> None:
        """Add a finding: something is not as stated."""
        place = stated or {}
        self.findings.append(Finding(what, place.get("file"), place.get("offset"), entry["url"]))


def recorded(exchange: RecordedExchange, outcome: Outcome) -> dict[str, object]:
    """What the records say of a download, by the names of a certificate's fields."""
    shown: dict[str, object] = {"date": exchange.date, "uri": exchange.uri, "result": outcome.result.value}
    if exchange.message is None or outcome.result is Result.FAILED:
        return shown
    return {**shown, "status": exchange.message.status, "digest": outcome.digest}


def servers_word(recorded: Sequence[Recorded], entries: Iterable[Entry], lag: Seconds) -> ServersWord:
    """What the sitemaps among recorded exchanges say of a certificate's pages."""
    from sharc_crawler.certificate.lastmods import ServersWord  # sitemaps are read only where a verdict rests on them

    return ServersWord(recorded, (entry["url"] for entry in entries), lag)


def _facts(stated: Entry | None, outcome: Outcome | None) -> VisitFacts | None:
    if stated is None or outcome is None:
        return None
    return VisitFacts(
        Slot(stated["slot"]), outcome.result, outcome.started, outcome.ended, outcome.status, outcome.digest,
        attempts=stated["attempts"], age=outcome.age,
    )  # fmt: skip
