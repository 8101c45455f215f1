"""Make ``index.json`` and ``index.html`` of a crawl of several sites, from the reports in their folders."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

from rich.console import Console
from rich.text import Text

from sharc_crawler import __version__
from sharc_crawler.archive.drafts import Drafts
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.errors import MALFORMED
from sharc_crawler.plural import counted
from sharc_crawler.report.claim import UNBORNE
from sharc_crawler.report.html import NAME, environment
from sharc_crawler.report.instant.output import sentence
from sharc_crawler.report.load import read_selection
from sharc_crawler.report.marks import LED, UNDER_WAY
from sharc_crawler.report.phrases import kept_content, whole
from sharc_crawler.report.selection import entry
from sharc_crawler.report.terminal import fact
from sharc_crawler.report.unfinished import going_on
from sharc_crawler.report.words import short
from sharc_crawler.report.write import put, saying_where, to_json
from sharc_crawler.storage.folders import site_folders

DATA, INDEX = "index.json", "index.html"
SHOWN = 10  #: most sites listed on the terminal
_NAMED = "refuted", "", "without a page", "redirected elsewhere"  #: names of groups, see :func:`_turn`
NOTES = 3  #: most notes of a site in the index
MOVED, UNREPORTED = "its folder was moved elsewhere", "it has no report yet"


def write_index(folder: Path, stopped: str = "", lost: Mapping[str, str] = MappingProxyType({})) -> str:
    """Write both files into the folder of a crawl of several sites; returns a summary.

    ``stopped``: how the crawl was stopped, if it was; ``lost``: why sites could not go on while others did.
    """
    found = index(folder, lost)
    with saying_where(folder), Drafts() as drafts:
        put(drafts, {folder / DATA: [to_json(found)], folder / INDEX: [_page(found)]})
    console = Console(highlight=False)
    with console.capture() as captured:
        for line in _lines(found, folder, stopped):
            console.print(line, soft_wrap=True)
    return captured.get()


def not_of_index(folder: Path) -> Iterator[Finding]:
    """Where the index of a crawl of several sites contradicts their reports; moved sites are passed over.

    If another version of sharc wrote it, its HTML page is not compared.
    """
    if site_folders(folder) is None or not (folder / DATA).exists():
        return
    try:
        stored = json.loads((folder / DATA).read_bytes())
        found = index(folder)
        own = stored["generator"] == found["generator"]
        listed = {one["site"]: one for one in stored["sites"]}
        there = {one["site"]: one for one in found["sites"]}
        others = [site for site, one in there.items() if one["claim"] != MOVED and _own(listed.get(site)) != _own(one)]
        if listed.keys() != there.keys() or stored["complete"] != sum(one["complete"] for one in listed.values()):
            yield Finding("its sites are not those of the crawl", DATA)
        elif own and others:
            yield Finding(f"it is not what the report of {others[0]} says (sharc report writes it anew)", DATA)
        elif own and (folder / INDEX).read_bytes() != _page(stored).encode("utf-8", "replace"):
            yield Finding("it is not that of its data (sharc report writes it anew)", INDEX)
    except (OSError, *MALFORMED) as error:
        yield Finding(f"the index of sites cannot be read: {error!r}", DATA)


def _own(one: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """The entry of a site, without the reason why it is not complete, which its report does not know."""
    if one is None:
        return None
    return {name: value for name, value in one.items() if one["complete"] or name != "claim"}


def _page(found: Mapping[str, Any]) -> str:
    told = {"heading": _heading(found), "listed": [(one, _why(one)) for one in sorted(found["sites"], key=_turn)]}
    return environment().get_template("sites.html").render(found, **told, seeds=found.get("seeds"))


def index(folder: Path, lost: Mapping[str, str] = MappingProxyType({})) -> dict[str, Any]:
    """The content of ``index.json``: claim and figures of each site, and the place of its report."""
    sites = [_site(folder, site, path, lost.get(site)) for site, path in (site_folders(folder) or {}).items()]
    selection = read_selection(folder)
    return {
        "format": "sharc-sites-report",
        "version": 1,
        "generator": {"name": "sharc-crawler", "version": __version__},
        "sites": sites,
        "complete": sum(site["complete"] for site in sites),
        **({"seeds": entry(selection)} if selection else {}),
    }


def _site(folder: Path, site: str, path: Path, lost: str | None) -> dict[str, Any]:
    found = _reported(folder, site, path)
    if lost and not found["complete"]:
        found |= {"claim": f"it stopped, the others continued: {lost}"}
    return found


def _reported(folder: Path, site: str, path: Path) -> dict[str, Any]:
    try:
        report = json.loads((path / "report.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        told = UNREPORTED if path.is_dir() else MOVED
        return {
            "site": site,
            "folder": path.name,
            "report": None,
            "complete": False,
            "claim": told,
            "coherence": None,
            "notes": [],
        }
    found = {"site": site, "folder": path.name, "report": f"{path.relative_to(folder).as_posix()}/{NAME}"}
    if "captures" not in report:  # of an instant crawl
        notes = report["notes"][:NOTES]
        return {**found, "complete": report["complete"], "claim": sentence(report), "coherence": None, "notes": notes}
    (capture,) = report["captures"]
    totals = {name: capture["coherence"][name] for name in ("coherent", "changed", "unknown", "captured")}
    complete = capture["times"]["ended"] is not None
    claim = "; ".join(filter(None, (capture["claim"]["statement"], kept_content(capture["coherence"]))))
    return {**found, "complete": complete, "claim": claim, "coherence": totals, "notes": capture["notes"][:NOTES]}


def _turn(site: Mapping[str, Any]) -> int:
    """The group of a site: those that need attention are shown first."""
    if UNBORNE in site["claim"]:
        return 0
    if not site["complete"]:
        return 1
    if site["coherence"] and not site["coherence"]["captured"]:
        return 2
    return 3 if any(note.startswith(LED) for note in site["notes"]) else 4


def _why(site: Mapping[str, Any]) -> list[str]:
    """Notes on a site's problem: why it has no page, or where its seeds redirect to."""
    led = [note for note in site["notes"] if note.startswith(LED)]
    without = site["coherence"] and not site["coherence"]["captured"]
    return led + [note for note in site["notes"] if note not in led][: bool(without)]


def _heading(found: Mapping[str, Any]) -> str:
    turns = Counter(map(_turn, found["sites"]))
    more = "".join(f", {turns[turn]:,} {name}" for turn, name in enumerate(_NAMED) if name and turns[turn])
    return f"{counted(len(found['sites']), 'site')}, {found['complete']:,} complete{more}"


def _lines(found: Mapping[str, Any], folder: Path, stopped: str) -> Iterator[Text]:
    sites = found["sites"]
    yield Text(f"\n{_heading(found)}", "bold")
    unfinished = [site for site in sites if not site["complete"] and site["claim"] != MOVED]
    if under_way := sum(UNDER_WAY in site["notes"] for site in unfinished):
        yield Text(f"Not complete: {under_way:,} being captured")
    if len(unfinished) > under_way:
        how = f"Stopped {stopped}, not complete" if stopped else "Not complete"
        yield Text(f"{how}: {going_on(folder)}")
    for site in sorted(sites, key=_turn)[:SHOWN]:
        yield fact(short(site["site"]), f"{site['claim']}{'' if site['complete'] else ' (not complete)'}")
        yield from (fact("", whole(note)) for note in _why(site))
        if _turn(site) < len(_NAMED) and not (stopped or site["claim"] == MOVED):
            yield fact("", str(folder / site["folder"]))
    if len(sites) > SHOWN:
        yield fact("", f"… and {counted(len(sites) - SHOWN, 'more site')} in the index")
    if "seeds" in found:
        for number, text in enumerate(found["seeds"]["summary"]):
            yield fact("" if number else "seeds", text)
    yield fact("json", str(folder / DATA))
    yield fact("html", str(folder / INDEX))
