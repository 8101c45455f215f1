"""``sharc report``: the report of a capture folder, made again from its stored state."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import click

from sharc_crawler.certificate.writing import certify, lines
from sharc_crawler.report.document import document
from sharc_crawler.report.instant.document import document as instant_document
from sharc_crawler.report.instant.output import write as write_instant
from sharc_crawler.report.load import capture_facts, is_instant
from sharc_crawler.report.selection import read_selection
from sharc_crawler.report.taught import read_taught
from sharc_crawler.report.terminal import summary
from sharc_crawler.report.truth import read_truth
from sharc_crawler.report.write import to_json, write
from sharc_crawler.storage.opening import open_state


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.option("--truth", type=click.File("r"), help="True change times, as sharc demo --truth writes them.")
@click.option("--json", "as_json", is_flag=True, help="Print the report as JSON and write nothing.")
def command(folder: Path, truth: IO[str] | None, as_json: bool) -> None:
    r"""Write report.json, report-pages.jsonl and report.html of the captures in FOLDER, from the state stored there.

    A complete capture whose certificate could not be written at its end gets it now.

    \b
    Example:
      sharc report captures/demo
      sharc report captures/demo --json | jq '.captures[].claim.sentence'
      jq 'select(.verdict == "changed").url' captures/demo/report-pages.jsonl
    """
    with open_state(folder) as store:
        if is_instant(store.captures()):
            state = store.load()
            click.echo(to_json(instant_document(state)) if as_json else write_instant(state, folder), nl=False)
            return
        captures = capture_facts(store, read_truth(truth, truth.name) if truth else None, read_taught(folder))
        if as_json:
            click.echo(to_json(document(captures, read_selection(folder))), nl=False)
        else:
            paths = write(captures, folder)
            click.echo(summary(captures, paths, lines(certify(captures, folder))), nl=False)
