"""Captures whose records contradict what was judged of their pages.

If it is only some pages, these become unknown. Otherwise the report claims nothing, and says why. The stored state
keeps the old judgements; :mod:`.opened` corrects them by certificate and report.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import Any

from sharc_crawler.certificate.examining import Restated
from sharc_crawler.certificate.unlisted import ASKED_AGAIN
from sharc_crawler.certificate.unlisted import NOTE as OF_PAGES
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.certificate.writing import Certified, certify, path_of
from sharc_crawler.evidence.facts import CaptureFacts, PageFacts, VisitFacts
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Kind, Result, Url, Verdict
from sharc_crawler.plural import counted
from sharc_crawler.report.marks import ALTERED
from sharc_crawler.report.write import write

Entry = Mapping[str, Any]

ROUNDS = 3  #: tries: pages may rest on others that become unknown
FAULT = "This is a bug of sharc-crawler, or of a plug-in: please report it"
OTHERWISE = f"{Reason.ASKED_AGAIN.words[0].upper()}{Reason.ASKED_AGAIN.words[1:]}"
NOTE = "There is no certificate: the WARC files do not support the verdicts on the pages."


def settle(
    captures: list[CaptureFacts], folder: Path, written: Sequence[Certified]
) -> tuple[list[CaptureFacts], list[Certified]]:
    """Restate pages until the certificates hold, writing reports and certificates again; returns both.

    ``written``: certificates of the first attempt, some with findings.
    """
    known: dict[Path, dict[str, Any]] = {}
    certified = {one.path: one for one in written}
    for _ in range(ROUNDS):
        if not any(one.restated for one in certified.values()):
            break
        for one in certified.values():
            known[one.path] = {**known.get(one.path, {}), **one.restated}
        restated = [as_restated(facts, known.get(path_of(facts, captures, folder), {})) for facts in captures]
        write(restated, folder)
        certified |= {one.path: one for one in certify(restated, folder)}
        if not any(one.findings for one in certified.values()):
            return restated, list(certified.values())
    return _refute(captures, folder, list(certified.values())), list(certified.values())


def _refute(captures: Sequence[CaptureFacts], folder: Path, written: Sequence[Certified]) -> list[CaptureFacts]:
    """Write reports that claim nothing for captures without a valid certificate; returns all captures."""
    findings = {one.path: one.findings for one in written if one.findings}
    refuted = [_refuted(facts, path_of(facts, captures, folder), findings) for facts in captures]
    write(refuted, folder)
    return refuted


def _refuted(facts: CaptureFacts, path: Path, findings: Mapping[Path, Sequence[Finding]]) -> CaptureFacts:
    if path not in findings:
        return facts
    return unproven(facts, str(findings[path][0]), ALTERED if path.exists() else NOTE)


def unproven(facts: CaptureFacts, why: str = "", note: str = NOTE) -> CaptureFacts:
    """The capture with all pages unknown; ``why``: what does not hold."""
    note = f"{note} {why}".rstrip()
    pages = RefutedPages(facts.pages)
    return replace(facts, refuted=True, pages=pages, audit=None, notes=(note, *facts.notes))


def as_restated(facts: CaptureFacts, restated: Restated) -> CaptureFacts:
    """The capture with these pages restated, and a note on them."""
    if not restated:
        return facts
    pages = counted(len(restated), "page")
    faults = [url for url, entry in restated.items() if entry["reason"] != Reason.ASKED_AGAIN]
    first = min(faults or restated)
    asked = (restated[first]["visit"] or {}).get("uri", first)  # as requested: the canonical URL may not work there
    fault = f"{OF_PAGES} {pages}, of which nothing is claimed. {FAULT}"
    note = f"{fault if faults else f'{ASKED_AGAIN} {pages}. {OTHERWISE}'} ({asked})"
    pages_left = RefutedPages(facts.pages, restated)
    return replace(facts, pages=pages_left, audit=_audit_left(facts, restated), notes=(note, *facts.notes))


def _audit_left(facts: CaptureFacts, restated: Restated) -> Mapping[str, Any] | None:
    """The audit without the claims of restated pages."""
    audit = facts.audit
    if not (audit and audit.get("claimed")):
        return audit
    lost = [page for page in facts.pages if page.url in restated and page.evidence and page.evidence.stated]
    lost = [page for page in lost if page.kind in (Kind.PAGE, Kind.DATA) and page.verdict is Verdict.COHERENT]
    gone = {"claimed": len(lost), "provisional": sum(page.evidence is Evidence.PROVISIONAL for page in lost)}
    gone |= {"data": sum(page.kind is Kind.DATA for page in lost)}
    left = {name: audit[name] - number for name, number in gone.items() if name in audit}
    return {**audit, **left, **{name: min(audit[name], left["claimed"]) for name in ("unaudited", "bound")}}


class RefutedPages:
    """The pages of a capture as unknown; or only some of them, as ``restated`` from the records.

    Pages that only the records know come last.
    """

    def __init__(self, pages: Iterable[PageFacts], restated: Restated | None = None) -> None:
        self._pages, self._restated = pages, restated

    def __iter__(self) -> Iterator[PageFacts]:
        left = dict(self._restated or {})
        for page in self._pages:
            if entry := left.pop(page.url, None):
                visits = _visit(page.visit, entry["visit"]), _visit(page.revisit, entry.get("revisit"))
                page = replace(page, visit=visits[0], revisit=visits[1], former=(), data=())
                yield _unknown(page, captured="verdict" in entry, why=entry["reason"])
            else:
                known = self._restated is not None or page.verdict is None
                yield page if known else _unknown(page, captured=True)
        for entry in left.values():
            place = Url(entry["url"]), Kind(entry["kind"]), "", 0, 0.0, ""
            yield PageFacts(*place, reason=Reason.REFUTED, subsite=entry["subsite"])


def _unknown(page: PageFacts, *, captured: bool, why: str = Reason.REFUTED) -> PageFacts:
    verdict, evidence = (Verdict.UNKNOWN, Evidence.NONE) if captured else (None, None)
    return replace(page, verdict=verdict, evidence=evidence, reason=why, alike=False)


def _visit(visit: VisitFacts | None, stated: Entry | None) -> VisitFacts | None:
    if visit is None or stated is None:
        return None
    return replace(visit, result=Result(stated["result"]), status=stated["status"], digest=stated["digest"])


# -- next steps --------------------------------------------------------------------------------------------------------


def way_out(report: Mapping[str, Any]) -> tuple[str, str]:
    """The next step if nothing can be claimed, which should never happen."""
    if any(note.startswith(ALTERED) for note in report["notes"]):
        return f"{ALTERED} Put back a copy that is whole.", "sharc report FOLDER"
    words = "The WARC files do not support the verdicts. Capture the site again, in another folder."
    return words, join(again(report["settings"], report["seeds"]))


def again(settings: Mapping[str, Any], seeds: Sequence[str], folder: str = "FOLDER") -> list[str]:
    """A command, as words, that captures the same again into another folder."""
    if spider := settings.get("spider"):
        return ["scrapy", "crawl", str(spider), "-s", f"SHARC_OUTPUT={folder}-again"]
    return ["scrapy", "crawl", "site", "-a", f"url={','.join(seeds)}", "-a", f"output={folder}-again"]
