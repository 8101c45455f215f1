"""``sharc report``: the report of a capture folder, made again from its stored state."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import click

from sharc_crawler.certificate.sealed_files import resized_certificates
from sharc_crawler.certificate.sources import captures_in
from sharc_crawler.certificate.writing import Certified, certify, lines, path_of
from sharc_crawler.cli._inputs import FOLDER, regular
from sharc_crawler.cli._next import say_next
from sharc_crawler.collection.folder import Collection
from sharc_crawler.errors import MALFORMED, DataError, SharcError, UsageError
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.plural import counted
from sharc_crawler.report.document import document
from sharc_crawler.report.instant.document import document as instant_document
from sharc_crawler.report.instant.output import write as write_instant
from sharc_crawler.report.load import capture_facts, is_instant, read_selection
from sharc_crawler.report.marks import UNDER_WAY
from sharc_crawler.report.mask_candidates import read_taught
from sharc_crawler.report.opened import as_sealed, open_facts, require_some
from sharc_crawler.report.pages import Walked
from sharc_crawler.report.sites import index, write_index
from sharc_crawler.report.terminal import summary
from sharc_crawler.report.words import printable
from sharc_crawler.report.write import to_json, write
from sharc_crawler.storage.beside import forget_killed, is_held, open_state
from sharc_crawler.storage.folders import site_folders
from sharc_crawler.storage.opening import holds_state

if TYPE_CHECKING:
    from sharc_crawler.evidence.facts import CaptureFacts
    from sharc_crawler.model import Instant
    from sharc_crawler.report.pages import Truth

_NAMED = 3  #: captures listed for a choice


class Written(NamedTuple):
    """The result of writing a report."""

    summary: str
    refuted: bool = False  #: by the records


@click.command()
@click.argument("folder", type=FOLDER, callback=regular)
@click.option(
    "--truth", type=click.File(errors="replace"), help="File with the true changes, as sharc demo --truth writes it."
)
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON and write nothing.")
def command(folder: Path, truth: IO[str] | None, as_json: bool) -> None:
    r"""Write report.json, report-pages.jsonl and report.html of the captures in FOLDER, from the state stored there.

    If the certificate of a complete capture could not be written at its end, it is written now. For a crawl of several
    sites, all reports and an index are written; for a collection, or a folder of captures, all reports.

    \b
    Example:
      sharc report captures/demo
      sharc report captures/demo --json | jq '.captures[].claim.sentence'
      jq 'select(.verdict == "changed").url' captures/demo/report-pages.jsonl
    """
    known = read_truth(truth, truth.name) if truth else None
    sites = site_folders(folder)
    folders = _captures(folder) if sites is None else [one for one in sites.values() if one.is_dir()]
    if as_json:
        if sites is None and len(folders) > 1:
            named = ", ".join(map(str, folders[:_NAMED]))
            raise UsageError(f"--json: {folder} holds {len(folders):,} captures; name one of them: {named}")
        click.echo(_as_json(folders[0], known) if sites is None else to_json(index(folder)), nl=False)
        return
    for one in (folder, *folders):
        forget_killed(one)
    for one in _stateless(folder):
        _say(_not_reported(one))
    written, failed = _all_written([one for one in folders if sites is None or holds_state(one)], known)
    click.echo("".join(one.summary for one in written.values()) if sites is None else write_index(folder), nl=False)
    if refuted := [one for one in written if written[one].refuted]:
        raise DataError(_no_claim_error(refuted))
    if failed:
        raise DataError(f"{counted(failed, 'capture')} of {folder} could not be reported")
    if any(any(one.glob("certificate*.json")) for one in folders):
        say_next("sharc", "verify", folder)


def _all_written(folders: list[Path], truth: Truth | None) -> tuple[dict[Path, Written], int]:
    """The written reports, and how many failed; failures are printed."""
    if len(folders) == 1:
        return {folders[0]: _write_report(folders[0], truth)}, 0
    written: dict[Path, Written] = {}
    for one in folders:
        try:
            written[one] = _write_report(one, truth)
        except SharcError as error:
            _say(f"{one}: {error}")
    return written, len(folders) - len(written)


def _say(not_reported: str) -> None:
    click.echo(f"  not reported: {printable(not_reported)}", err=True)


def _no_claim_error(refuted: list[Path]) -> str:
    """The error for reports that claim nothing, and what to do."""
    named = ", ".join(map(str, refuted))
    if any(any(one.glob("certificate*.json")) for one in refuted):
        return (
            f"{named} is not as it was when its certificate was sealed: the report claims"
            f" nothing; put back a copy that is whole; what was altered: sharc verify {refuted[0]}"
        )
    return (
        f"the WARC files of {named} do not support the verdicts on the pages: the report claims nothing, and there"
        " is no certificate; capture the site again, in another folder"
    )


def _captures(folder: Path) -> list[Path]:
    """The captures in a collection or folder; the folder itself if there are none."""
    inner = [one.folder for one in Collection(folder).captures()] if Collection.is_in(folder) else captures_in(folder)
    return [one for one in inner if holds_state(one)] or [folder]


def _stateless(folder: Path) -> list[Path]:
    """Captures in a folder that have no state to report from."""
    if Collection.is_in(folder) or site_folders(folder) is not None:
        return []
    return [one for one in captures_in(folder) if one != folder and not holds_state(one)]


def _not_reported(one: Path) -> str:
    if Collection.is_in(one):
        return f"{one}: it is a collection: sharc report {one}"
    return f"{one}: its state is missing or empty"


def _as_json(folder: Path, truth: Truth | None) -> str:
    with open_state(folder) as store:
        if is_instant(store.captures()):
            return to_json(instant_document(store.load()))
    with open_facts(folder, truth) as captures:
        return to_json(document(_as_it_runs(captures, folder), read_selection(folder)))


def _as_it_runs(captures: list[CaptureFacts], folder: Path) -> list[CaptureFacts]:
    """Add a note to captures that are running now."""
    if not is_held(folder):
        return captures
    return [replace(one, notes=(UNDER_WAY, *one.notes)) for one in captures]


def _write_report(folder: Path, truth: Truth | None) -> Written:
    """Write a report."""
    with open_state(folder) as store, busy("writing the report") as share:
        if is_instant(store.captures()):
            return Written(write_instant(store.load(), folder))
        walked = Walked(store, partial(share, part="writing the report"))
        captures = as_sealed(_as_it_runs(capture_facts(walked, truth, read_taught(folder)), folder), folder)
        require_some(captures, folder)
        paths = write(captures, folder)
        if is_held(folder):  # its WARC files are unfinished: the running crawl certifies them
            return Written(summary(captures, paths, [("certificate", "none yet: it is being captured")]))
        certified = resized_certificates(captures, folder) or _contradicted(captures, folder)
        certified += certify(captures, folder, partial(share, part="checking the certificate"))
        if any(one.findings for one in certified):
            from sharc_crawler.report.refuted import settle  # only if report and certificate disagree

            captures, certified = settle(captures, folder, certified)
        return Written(summary(captures, paths, lines(certified)), any(one.findings for one in certified))


def _contradicted(captures: list[CaptureFacts], folder: Path) -> list[Certified]:
    """Certificates in the folder that disagree with the report just written from the state."""
    if not (there := [path for facts in captures if (path := path_of(facts, captures, folder)).exists()]):
        return []
    from sharc_crawler.report.package_check import not_of_capture  # only if there was a certificate before

    found = [*not_of_capture(folder)]
    return [Certified(path, "", "", found) for path in there if found]


# -- what really happened, where somebody wrote it down: the file that `sharc demo --truth` writes ---------------------


def read_truth(lines: Iterable[str], name: str = "truth") -> Truth:
    """The true changes of pages, by their path, from JSON lines ``{"page", "from", "to", "changes"}``.

    The function returned gives a URL's changes in [start, end], and None where the file does not know all of them.
    Raises :class:`~sharc_crawler.errors.DataError` naming the line that cannot be read.

    >>> truth = read_truth(['{"page": "/a", "from": 0, "to": 100, "changes": [7.0, 50.0]}'])
    >>> truth("http://site.example/a", 5.0, 20.0), truth("http://site.example/a", 5.0, 200.0)
    ((7.0,), None)
    """
    known: dict[str, tuple[Instant, Instant, tuple[Instant, ...]]] = {}
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            known[entry["page"]] = float(entry["from"]), float(entry["to"]), tuple(map(float, entry["changes"]))
        except MALFORMED as error:
            what = '{"page": "/path", "from": 1795690000.0, "to": 1795690060.0, "changes": [1795690017.5]}'
            raise DataError(
                f"{name}, line {number} is no page with its true changes; each line is, with times in unix seconds, as"
                f" {what} (sharc demo --truth writes such)"
            ) from error

    def truth(url: str, start: Instant, end: Instant) -> tuple[Instant, ...] | None:
        first, last, changes = known.get(urlsplit(url).path, (start, start - 1.0, ()))
        if first > start or last < end:
            return None
        return tuple(change for change in changes if start <= change <= end)

    return truth
