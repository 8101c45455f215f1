"""Next steps that a report suggests: a sentence and a command each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sharc_crawler.evidence.claim import Statement
from sharc_crawler.plural import counted
from sharc_crawler.report.marks import BY_SCRIPT, ORDERS, UNDER_WAY

_TRAP = "looks like a trap"  #: beginning of reasons that `traps=0` undoes


class NextStep(NamedTuple):
    """Something that a reader can do next, and the command for it."""

    words: str
    command: str


def next_steps(report: Mapping[str, Any], changed: str = "") -> list[NextStep]:
    """The steps for a capture, most urgent first. The report's script replaces ``FOLDER`` by the capture's folder.

    ``changed``: the URL of a page that changed its content.

    >>> ended = {"ended": None, "reference": None}
    >>> next_steps({"times": ended, "coherence": {}, "settings": {}, "seeds": ["http://h/"]})[0].command
    'scrapy crawl site -a url=http://h/ -a output=FOLDER'
    """
    if report["times"]["ended"] is None:
        if UNDER_WAY in report.get("notes", ()):
            return [NextStep("It was being captured when this was written. Watch its progress.", "sharc watch FOLDER")]
        from sharc_crawler.report.unfinished import going_on_with  # a capture that was cut off

        return [NextStep(*going_on_with(report)), *_own_addresses(report)]
    if report["claim"]["code"] == Statement.REFUTED:
        from sharc_crawler.report.refuted import way_out  # what should never be

        return [NextStep(*way_out(report))]
    return [*_once(report), *_missing(report), *_changes(report, changed), *_audit(report), *_keeping(report)]


def _once(report: Mapping[str, Any]) -> Iterator[NextStep]:
    """Visit pages twice: a project's default strategy shows nothing of coherence."""
    totals = report["coherence"]
    if "spider" in report["settings"] and totals["captured"] and totals["unknown"] == totals["captured"]:
        words = "Pages were visited once, which shows nothing about coherence. Visit each page twice."
        yield NextStep(words, "-s SHARC_STRATEGY=sharc-selective")


def _own_addresses(report: Mapping[str, Any]) -> Iterator[NextStep]:
    """Exclude URLs that software generates, or that look like orders to the server, if a note mentions them."""
    if any(" are of its making (" in note or ORDERS in note for note in report.get("notes", ())):
        from sharc_crawler.report.left_out import exclusions  # of such sites alone

        yield from (NextStep(*one) for one in exclusions(report))


def trapped(report: Mapping[str, Any]) -> int:
    """How many URLs were left out because they look like a trap."""
    return sum(count for reason, count in report["not_captured"]["reasons"].items() if reason.startswith(_TRAP))


def _missing(report: Mapping[str, Any]) -> Iterator[NextStep]:
    if " not followed for " in (report["left_by_budget"] or ""):
        from sharc_crawler.report.left_out import wider  # only where anything was left

        yield from (NextStep(*one) for one in wider(report))
    yield from _own_addresses(report)
    if any(BY_SCRIPT in note for note in report["notes"]):
        words = "A page has no links and loads scripts (see the notes). If pages are missing, capture it in a browser."
        yield NextStep(words, "-a browser=auto")
    if number := trapped(report):
        yield NextStep(
            f"{counted(number, 'address', 'were')} left out as a likely trap, because similar pages repeat what"
            " others show. Open a few from the list “Not captured”. If they are real pages, capture them.",
            "-a traps=0",
        )


def _changes(report: Mapping[str, Any], page: str) -> Iterator[NextStep]:
    if report["coherence"]["content"]["changed"] or report["coherence"]["by_masks"]:
        from sharc_crawler.report.noise import steps  # only where anything did

        yield from (NextStep(*one) for one in steps(report, page))


def _audit(report: Mapping[str, Any]) -> Iterator[NextStep]:
    if report["audit"]:
        from sharc_crawler.report.servers_word import larger  # only where there was one

        yield from (NextStep(*one) for one in larger(report))


def _rates(report: Mapping[str, Any]) -> Iterator[NextStep]:
    """Keep a history: without it, captures do not learn how often pages change."""
    if report["settings"].get("history") or not report["coherence"]["captured"]:
        return
    project = "spider" in report["settings"]
    words = "captures learn from earlier ones how often pages change."
    command = "-s SHARC_HISTORY=history.db" if project else "sharc collection add collection FOLDER"
    yield NextStep(f"{'With a history' if project else 'In a collection'}, {words}", command)


def _keeping(report: Mapping[str, Any]) -> Iterator[NextStep]:
    yield from _rates(report)
    if report["coherence"]["captured"]:
        yield NextStep("Verify the claim against the WARC files.", "sharc verify FOLDER")
        yield NextStep("View the site as it was.", "sharc replay FOLDER")
