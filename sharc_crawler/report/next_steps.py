"""What one would do next, by what a report shows: each step a sentence and the command for it."""

from __future__ import annotations

import math
from shlex import join, quote
from typing import TYPE_CHECKING, Any, NamedTuple

from sharc_crawler.evidence.claim import Statement
from sharc_crawler.evidence.facts import LEARNED
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.marks import ALTERED, BY_SCRIPT, MANY, ORDERS, UNDER_WAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

LITTLE = 0.2  #: share of claims that may be wrong, by an audit, from which on it says little
_TRAP = "looks like a trap"  #: what reasons for leaving addresses out begin with, that `traps=0` undoes
TELLING = 30.0  #: pages to audit, for a bound of a tenth where none of them had changed


class NextStep(NamedTuple):
    """Something that a reader of the report can do next, and the command for it."""

    words: str
    command: str


def next_steps(report: Mapping[str, Any], changed: str = "") -> list[NextStep]:
    """The steps for a capture, most urgent first. ``FOLDER`` stands for the capture's, which the report's script knows.

    ``changed``: a page that changed its content.

    >>> ended = {"ended": None, "reference": None}
    >>> next_steps({"times": ended, "coherence": {}, "settings": {}, "seeds": ["http://h/"]})[0].command
    'scrapy crawl site -a url=http://h/ -a output=FOLDER'
    """
    if report["times"]["ended"] is None:
        if UNDER_WAY in report.get("notes", ()):
            return [NextStep("It was being captured when this was written. See how far it is.", "sharc watch FOLDER")]
        from sharc_crawler.report.unfinished import going_on_with  # a capture that was cut off

        return [NextStep(*going_on_with(report)), *_own_addresses(report)]
    if report["claim"]["code"] == Statement.REFUTED:
        return [_refuted(report)]
    return [*_once(report), *_missing(report), *_changes(report, changed), *_audit(report), *_keeping(report)]


def _once(report: Mapping[str, Any]) -> Iterator[NextStep]:
    """A project's default order shows nothing of coherence."""
    totals = report["coherence"]
    if "spider" in report["settings"] and totals["captured"] and totals["unknown"] == totals["captured"]:
        words = "Pages were visited once, which shows nothing of coherence. Have each visited twice."
        yield NextStep(words, "-s SHARC_STRATEGY=sharc-selective")


def _refuted(report: Mapping[str, Any]) -> NextStep:
    """What to do after a capture of which nothing can be claimed: it should never be."""
    if any(note.startswith(ALTERED) for note in report["notes"]):
        return NextStep(f"{ALTERED} Put back a copy that is whole.", "sharc report FOLDER")
    words = "The WARC files do not bear out what was judged. Capture the site again, in another folder."
    return NextStep(words, join(again(report["settings"], report["seeds"])))


def again(settings: Mapping[str, Any], seeds: Sequence[str], folder: str = "FOLDER") -> list[str]:
    """The words of a command that captures the same once more, beside what there is."""
    if spider := settings.get("spider"):
        return ["scrapy", "crawl", str(spider), "-s", f"SHARC_OUTPUT={folder}-again"]
    return ["scrapy", "crawl", "site", "-a", f"url={','.join(seeds)}", "-a", f"output={folder}-again"]


def _own_addresses(report: Mapping[str, Any]) -> Iterator[NextStep]:
    """Addresses that the site's software makes by itself, or that look like orders to it, where a note tells so."""
    if any(" are of its making (" in note or ORDERS in note for note in report.get("notes", ())):
        from sharc_crawler.report.own_addresses import left_out  # of such sites alone

        yield from (NextStep(*one) for one in left_out(report))


def trapped(report: Mapping[str, Any]) -> int:
    """Addresses that were left out since they look like a trap."""
    return sum(count for reason, count in report["not_captured"]["reasons"].items() if reason.startswith(_TRAP))


def _missing(report: Mapping[str, Any]) -> Iterator[NextStep]:
    if " not followed for " in (report["left_by_budget"] or ""):
        from sharc_crawler.report.left_out import wider  # only where anything was left

        yield from (NextStep(*one) for one in wider(report))
    yield from _own_addresses(report)
    if any(BY_SCRIPT in note for note in report["notes"]):
        words = "A page leads nowhere and loads scripts (see the notes). If pages are missing, have a browser show it."
        yield NextStep(words, "-a browser=auto")
    if number := trapped(report):
        yield NextStep(
            f"{counted(number, 'address', 'were')} left out: what looks like a trap, since pages beside it repeat what"
            " others say. Open a few from the list “Not captured”. If they are pages of their own, take them.",
            "-a traps=0",
        )


def _changes(report: Mapping[str, Any], page: str) -> Iterator[NextStep]:
    """Are they noise, and what are they? What a server called unmodified is none."""
    totals = report["coherence"]
    if number := totals["by_masks"]:
        pages = f"{counted(number, 'page', 'differ')} only in what this capture learned to ignore"
        words = f"{pages}. Is it noise? Look at the masks, and use them (in a collection: masks: auto)."
        given = "-s SHARC_MASKS" if "spider" in report["settings"] else "-a masks"
        yield NextStep(words, f"{given}=FOLDER/{LEARNED}")
    elif (number := totals["content"]["changed"] - totals["former_copies"]) > MANY * totals["captured"]:
        yield NextStep(
            f"{counted(number, 'page')} changed {agreeing(number, 'their')} content between visit and revisit."
            " Is it noise?",
            "sharc masks FOLDER",
        )
    if totals["content"]["changed"]:
        command = f"sharc diff FOLDER FOLDER {quote(page) if page else 'URL'}"
        yield NextStep("See what changed on a page between its visit and its revisit.", command)


def _audit(report: Mapping[str, Any]) -> Iterator[NextStep]:
    """Where an audit says little, a larger one would say more, unless the server kept pages from it."""
    audit = report["audit"] or {}
    claimed = audit.get("claimed", 0)
    little = claimed and audit["bound"] > LITTLE * claimed
    if little and not any(audit["unshown"].values()) and "spider" not in report["settings"]:
        few = f"{audit['audited']:,} were audited: too few to say much. Have more of them downloaded again."
        noun = "URL" if audit.get("data") else "page"
        words = f"Beside the {counted(claimed, noun)} claimed on the server's word alone, {few}"
        yield NextStep(words, f"-a audit={min(1.0, math.ceil(10 * TELLING / claimed) / 10):g}")


def _rates(report: Mapping[str, Any]) -> Iterator[NextStep]:
    """Without a history, captures learn nothing of how often pages change: how to keep one."""
    if report["settings"].get("history") or not report["coherence"]["captured"]:
        return
    project = "spider" in report["settings"]
    words = "captures learn from those before them how often pages change."
    command = "-s SHARC_HISTORY=history.db" if project else "sharc collection add collection FOLDER"
    yield NextStep(f"{'With a history' if project else 'In a collection'}, {words}", command)


def _keeping(report: Mapping[str, Any]) -> Iterator[NextStep]:
    yield from _rates(report)
    if report["coherence"]["captured"]:
        yield NextStep("Prove the claim from the WARC files alone.", "sharc verify FOLDER")
        yield NextStep("Look at the site as it was.", "sharc replay FOLDER")
