"""The key figures of a report, each with the words beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from sharc_crawler.evidence.claim import Statement
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.phrases import HELD, blurred, came, few, forecast, guessed
from sharc_crawler.report.words import percent, size, span

if TYPE_CHECKING:
    from collections.abc import Mapping


class Tile(NamedTuple):
    """A figure, what it is, and what a reader must know of it."""

    label: str
    value: str
    note: str


def tiles(report: Mapping[str, Any]) -> list[Tile]:
    """The figures at the top of a report; those that are not known are left out."""
    found = [_coherence(report), _complete(report), _expected(report), _truth(report), _blur(report)]
    return [tile for tile in [*found, _reference(report), _duration(report), _archive(report)] if tile]


def _coherence(report: Mapping[str, Any]) -> Tile:
    totals = report["coherence"]
    more = f"; {totals['same_content']:,} more had the same content" if totals["same_content"] else ""
    note = f"{totals['coherent']:,} of {counted(totals['captured'], 'page')}{more}"
    return Tile("Coherent", percent(totals["share"]), note)


def _complete(report: Mapping[str, Any]) -> Tile | None:
    complete = report["coherence"]["complete"]
    if not report["resources"]["known"]:
        return None
    pages = counted(complete["coherent"], "page")
    note = f"{pages} with every image, style and script that they embed and the server has"
    return Tile("Complete coherence", percent(complete["share"]), note)


def _expected(report: Mapping[str, Any]) -> Tile | None:
    expected = report["coherence"]["expected"]
    refuted = report["claim"]["code"] == Statement.REFUTED
    if not expected["pages"] or guessed(expected) or refuted:  # a guess is no figure to look at
        return None
    what = "coherent" if expected["same_content"] == expected["counted"] else "to keep content"
    return Tile(f"Expected {what}", forecast(expected), f"{HELD}; {came(expected)}")


def _truth(report: Mapping[str, Any]) -> Tile | None:
    truth = report["truth"]
    if not truth:
        return None
    wrong = truth["false_coherent"] + truth["false_changed"]
    judged = truth["agree"] + wrong
    share = truth["agree"] / judged if judged else None
    return Tile("Agrees with the truth", percent(share), f"{wrong:,} of {counted(judged, 'judgement')} wrong")


def _blur(report: Mapping[str, Any]) -> Tile | None:
    blur = report["blur"]
    if not blur or blur["stochastic_average"] is None or guessed(blur):
        return None
    truth = "" if blur["actual_average"] is None else f"; in truth {few(blur['actual_average'])}"
    return Tile("Average blur", blurred(blur), f"changes that a copy misses, {HELD}{truth}")


def _reference(report: Mapping[str, Any]) -> Tile | None:
    reference = report["times"]["reference"]
    parts = sum(part["reference"] is not None for part in report["subsites"])
    if reference is None and parts:
        return Tile("Reference instants", f"{parts:,}", "one for each part of the site")
    if reference is None and report["times"]["ended"]:  # the strategy has none, or nothing could be captured
        return None
    if reference is None:
        return Tile("Reference instant", "–", "not reached")
    return Tile("Reference instant", reference[11:19], f"UTC, {reference[:10]}")


def _duration(report: Mapping[str, Any]) -> Tile:
    times = report["times"]
    passes = [f"{name} {span(times[name]['seconds'])}" for name in ("visits", "revisits") if times[name]]
    seconds = times["seconds"]
    return Tile("Duration", "running" if seconds is None else span(seconds), ", ".join(passes))


def _archive(report: Mapping[str, Any]) -> Tile:
    if not report["warcs"]:
        return Tile("Archived", "nothing", "no WARC files")
    files = counted(len(report["warcs"]), "WARC file")
    detail = f"{counted(report['exchanges'], 'exchange')} in {files}, a certificate's own not counted"
    if retried := report["coherence"]["retried"]:
        detail += f"; {counted(retried, 'page')} took several requests"
    if taken := report["coherence"]["not_asked"]:
        detail += f"; {counted(taken, 'page', 'were')} not asked for, and {agreeing(taken, 'lie')} in former captures"
    return Tile("Archived", size(report["payload_bytes"]), detail)
