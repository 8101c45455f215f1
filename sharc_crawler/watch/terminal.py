"""| Draws a running crawl in a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rich.box import SIMPLE_HEAD
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from sharc_crawler.model import Instant, Result
from sharc_crawler.plural import counted
from sharc_crawler.report.foreign import foreign
from sharc_crawler.report.marks import DOUBT
from sharc_crawler.report.words import every, printable, size
from sharc_crawler.storage.folders import site_folders
from sharc_crawler.watch.tail import LOG
from sharc_crawler.watch.tally import HostSeen, Watched

HOSTS = 8  #: shown, those with the most requests
SITES = 12


def drawn(watched: Watched, now: Instant) -> RenderableType:
    """The whole picture; text from the log is shown as plain text."""
    lines = foreign(headline(watched, now), style="bold"), foreign(counts(watched))
    return Group(*lines, _sites(watched), _hosts(watched), _last(watched))


def headline(watched: Watched, now: Instant) -> str:
    """Whether it runs, and how far it is, in one line."""
    if watched.ended:
        why = "finished" if watched.ended == "finished" else f"stopped ({watched.ended})"
        report = watched.folder / ("report.html" if site_folders(watched.folder) is None else "index.html")
        doubt = f" {DOUBT[0].upper()}{DOUBT[1:]}: nothing is claimed." if watched.refuted else ""
        return f"The crawl is over: {why}.{doubt}" + (f" Its report: {report}" if report.exists() else "")
    if not watched.status:
        return _without_status(watched.folder)
    if silence := watched.silent(now):
        return f"No sign of life for {silence:.0f} s: it may have been killed. The same command resumes it."
    return str(watched.status["progress"]) or "begins"


def counts(watched: Watched) -> str:
    """Requests, bytes and verdicts, in one line."""
    seen = watched.seen
    found = [(number, verdict) for verdict, number in seen.verdicts.most_common() if not watched.refuted]
    if still := seen.results[Result.NOT_MODIFIED]:
        found.append((still, "not modified (304: judged at the end)"))
    verdicts = ", ".join(f"{number:,} {what}" for number, what in found)
    return f"{counted(seen.requests, 'request')}, {size(seen.bytes)}" + (f"; {verdicts}" if verdicts else "")


def _without_status(folder: Path) -> str:
    """The headline for a folder without a status."""
    if folder in (site_folders(folder.parent) or {}).values():
        return f"{folder} is one site's; its crawl is watched in the folder around it: sharc watch {folder.parent}"
    if (folder / LOG).exists():
        return f"{folder} holds a capture, but no crawl to watch: it was begun elsewhere, or with control=0."
    return f"No crawl has begun in {folder} yet."


def _sites(watched: Watched) -> RenderableType:
    captures = watched.status.get("captures", ())
    if not captures:
        return Text("")
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("site", "phase", "done", "of", "revisited", "T"):
        table.add_column(name, justify="left" if name in ("site", "phase", "T") else "right")
    for one in captures[:SITES]:
        numbers = (f"{one['visits']:,}", f"{one['pages']:,}", f"{one['revisits']:,}")
        table.add_row(foreign(one["site"]), foreign(one["phase"]), *numbers, foreign((one["reference"] or "")[11:19]))
    if len(captures) > SITES:
        table.caption = f"and {counted(len(captures) - SITES, 'more site')}"
    return table


def _hosts(watched: Watched) -> RenderableType:
    hosts = watched.seen.hosts
    if not hosts:
        return Text("")
    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("host", "requests", "pace", "errors", "last error"):
        table.add_column(name, justify="right" if name in ("requests", "errors") else "left")
    busiest = sorted(hosts.items(), key=lambda item: -item[1].requests)
    for name, host in busiest[:HOSTS]:
        table.add_row(
            foreign(name), f"{host.requests:,}", _pace(host), f"{host.errors:,}", foreign(host.last_error[:60])
        )
    return table


def _pace(host: HostSeen) -> str:
    return every(1.0 / host.gap) if host.gap else ""


def _last(watched: Watched) -> RenderableType:
    return Group(*(Text(printable(line), no_wrap=True, overflow="ellipsis") for line in _lines(watched)))


def _lines(watched: Watched) -> Iterator[str]:
    for entry in watched.seen.last:
        outcome = entry["verdict"] or entry["status"] or entry["result"]
        again = "again " if entry["slot"] == "second" else ""
        yield f"{entry['started'][11:19]} {outcome!s:>9} {again}{entry['url']}"
