"""Write an instant crawl's report, and its summary for the terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.frontier.modes.instant import LINKED
from sharc_crawler.instants import unix
from sharc_crawler.model import Seconds
from sharc_crawler.plural import counted
from sharc_crawler.report.html import NAME, environment
from sharc_crawler.report.instant.document import document
from sharc_crawler.report.phrases import whole
from sharc_crawler.report.schedule import TimeAxis
from sharc_crawler.report.terminal import fact
from sharc_crawler.report.unfinished import going_on
from sharc_crawler.report.words import UNITS, short, span
from sharc_crawler.report.write import DATA, put, saying_where, to_json
from sharc_crawler.state.rows import Batch

SHOWN = 5  #: most hubs or URLs listed on the terminal


def write(state: Batch, folder: Path, stopped: str = "") -> str:
    """Write ``report.json`` and ``report.html``; returns the summary.

    ``stopped``: how the crawl was stopped, if it was.
    """
    report = document(state)
    with saying_where(folder), Drafts() as drafts:
        put(drafts, {folder / DATA: [to_json(report)], folder / NAME: [render(report)]})
    console = Console(highlight=False)
    with console.capture() as captured:
        for line in _lines(report, folder, stopped):
            console.print(line, soft_wrap=True)
        for name in (DATA, NAME):
            console.print(fact(name, str(folder / name)), soft_wrap=True)
    return captured.get()


def render(report: Mapping[str, Any]) -> str:
    """``report.html`` of an instant crawl, made from its ``report.json``."""
    template = environment().get_template("instant.html")
    return template.render(
        generator=report["generator"], report=report, drawing=drawing(report), sentence=sentence(report), within=within
    )


def sentence(report: Mapping[str, Any]) -> str:
    """The result in words, with the basis of the delays, and interruptions."""
    return " ".join([*_captured(report), *_interrupted(report["interruptions"])])


def _captured(report: Mapping[str, Any]) -> Iterator[str]:
    new = report["new_pages"]
    silent = [hub for hub in report["hubs"] if hub["failed"] == hub["polls"]]
    if len(silent) == len(report["hubs"]):
        yield "No hub could be read, so nobody knows what was published."
        return
    if silent:
        yield f"{counted(len(silent), 'hub')} of {len(report['hubs'])} could not be read."
    if not new["found"]:
        yield f"No new page was published, as far as the {'other ' if silent else ''}hubs say."
        return
    older = report["dates"].get("older", 0)
    came_back = f", and {counted(older, 'older page')}: by their own Last-Modified, old links that came back to a hub"
    yield f"{counted(new['captured'] - older, 'new page')} captured{came_back if older else ''}."
    known, bound = report["delay"]["published"], report["delay"]["bound"]
    if known["pages"]:
        yield (
            f"{counted(known['pages'], 'page')} with a publication time: captured at most {within(known['median'])}"
            f" after it (median), {within(known['high'])} at the 95th percentile."
        )
    if bound["pages"]:
        yield (
            f"{counted(bound['pages'], 'page')} by polls alone: captured at most {within(bound['median'])} after"
            f" they appeared on a polled hub (median), {within(bound['high'])} at the 95th percentile,"
            " since the poll before did not show them yet."
        )
    doubts = {"early": "a poll after them did not show the page yet", "late": "the page was seen before"}
    for date, why in doubts.items():
        if pages := report["dates"].get(date, 0):
            yield f"The dates of {counted(pages, 'page')} are not believed: {why}."


def _interrupted(cuts: Sequence[Mapping[str, str]]) -> Iterator[str]:
    if cuts:
        lasted = span(sum(unix(cut["to"]) - unix(cut["from"]) for cut in cuts))
        yield (
            f"Interrupted {counted(len(cuts), 'time')}, for {lasted} in all:"
            " what was published meanwhile was seen only afterwards, or was missed."
        )


def _lines(report: Mapping[str, Any], folder: Path, stopped: str) -> Iterator[Text]:
    sites = ", ".join(report["sites"])
    yield Text(f"\nInstant crawl of {short(sites)}", "bold")
    yield Text(sentence(report))
    requests = report["requests"]
    each = f", {requests['per_new_page']:g} per page captured" if requests["per_new_page"] else ""
    yield fact("requests", f"{requests['total']:,} in all{each}")
    for hub in sorted(report["hubs"], key=lambda hub: -hub["new_pages"])[:SHOWN]:
        often = f", every {span(hub['interval'])} on average" if hub["interval"] else ""
        words = f"{counted(hub['polls'], 'poll')}{often}, {counted(hub['new_pages'], 'new page')}"
        tried = " (on trial, because new pages link to it)" if hub["via"] == LINKED else ""
        yield fact("hub", f"{short(hub['url'])}{tried}: {words}")
    if len(report["hubs"]) > SHOWN:
        yield fact("", f"{counted(len(report['hubs']) - SHOWN, 'more hub')} in the report")
    yield from _missing(report)
    for why, number in report["left"]["not_followed"]["sightings"].items():
        yield fact("not followed", whole(f"{why}: named {counted(number, 'time')}"))
    if not report["complete"]:
        yield fact("stopped", f"{stopped and f'{stopped}, '}before its end: {going_on(folder)}")
    for note in report["notes"]:
        yield fact("note", whole(note))
    yield fact("WARC", ", ".join(report["warcs"]) or "none")


def _missing(report: Mapping[str, Any]) -> Iterator[Text]:
    """New pages that were not captured, and pages that may be new."""
    missing = [f"{page['url']} ({page['result']})" for page in report["pages"] if not page["captured"]]
    for name, urls in (("not captured", missing), ("perhaps new", report["left"]["perhaps_new"])):
        for url in urls[:SHOWN]:
            yield fact(name, short(url))
        if len(urls) > SHOWN:
            yield fact("", f"{len(urls) - SHOWN:,} more in the report")


MOST = 30  #: most hubs drawn, those with most new pages
ROW, TOP, LEFT, WIDTH = 24, 28, 250, 1000
LABEL = 34  #: most characters of a label


@dataclass(frozen=True, slots=True)
class HubLine:
    """A hub in the drawing: ticks for its polls, dots for new pages."""

    y: int
    label: str
    url: str
    ticks: list[float]
    dots: list[float]


@dataclass(frozen=True, slots=True)
class Drawing:
    """What the template draws."""

    width: int
    height: int
    left: int
    lines: list[HubLine]
    axis: list[tuple[float, str]]
    left_out: int


def drawing(report: Mapping[str, Any]) -> Drawing | None:
    """The drawing of polls over time; ``None`` if there is nothing to draw."""
    hubs = sorted((hub for hub in report["hubs"] if hub["times"]), key=lambda hub: (-hub["new_pages"], -hub["polls"]))
    start, end = unix(report["started"]), unix(report["ended"])
    if not hubs or end <= start:
        return None
    axis = TimeAxis(start, end, LEFT, WIDTH - 12)
    lines = []
    for number, hub in enumerate(hubs[:MOST]):
        shown = [page["seen"] for page in report["pages"] if page["hub"] == hub["url"]]
        lines.append(
            HubLine(
                TOP + number * ROW,
                _label(hub["url"]),
                hub["url"],
                [axis.of(poll) for poll in hub["times"]],
                [axis.of(seen) for seen in shown],
            )
        )
    height = TOP + len(lines) * ROW + 8
    return Drawing(WIDTH, height, LEFT, lines, axis.ticks(), len(hubs) - len(lines))


def _label(url: str) -> str:
    """The end of a URL: the part that differs between hubs of one site."""
    text = url.partition("://")[2]
    return text if len(text) <= LABEL else f"…{text[1 - LABEL :]}"


def within(seconds: Seconds) -> str:
    """A duration rounded up, in the form of :func:`span`: it is an upper bound.

    >>> within(10.2), within(7.04), within(7_530), within(0.0)
    ('11 s', '7.1 s', '2 h 6 min', '0 s')
    """
    step = 10.0 ** (math.floor(math.log10(seconds)) - 1) if 0 < seconds < 10 else 1.0
    for (_, length), (_, finer) in pairwise(UNITS):
        if seconds >= length:
            step = finer
            break
    return span(math.ceil(round(seconds / step, 6)) * step)
