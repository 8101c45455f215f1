"""``sharc log``: every decision of a capture and what came of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from sharc_crawler.certificate.refuted import refuted_in
from sharc_crawler.cli._inputs import FOLDER
from sharc_crawler.model import Kind, Verdict
from sharc_crawler.report.load import capture_facts
from sharc_crawler.report.log import BROUGHT, FORMATS
from sharc_crawler.report.marks import DOUBT
from sharc_crawler.report.write import DATA
from sharc_crawler.storage.beside import open_state
from sharc_crawler.storage.folders import capture_folders

if TYPE_CHECKING:
    from sharc_crawler.report.pages import Stored


@click.command()
@click.argument("folder", type=FOLDER)
@click.option("--failed", is_flag=True, help="Print only failures, refusals and pages that are gone.")
@click.option("--not-followed", is_flag=True, help="List addresses that are not pages of the capture, with the reason.")
@click.option("--heritrix", is_flag=True, help="Print lines as in Heritrix's crawl.log.")
def command(folder: Path, failed: bool, not_followed: bool, heritrix: bool) -> None:
    r"""Print the log of the captures in FOLDER, complete or not, running or not: one JSON object per line and exchange.

    For a crawl of several sites, the sites follow each other.

    \b
    Example:
      sharc log captures/demo | jq -r 'select(.attempt > 1) | .url'
      sharc log captures/demo --failed
      sharc log captures/demo --not-followed | jq -r '[.reason, .url] | @tsv' | sort | less
      sharc log captures/demo --heritrix > crawl.log
    """
    line, _ = FORMATS["heritrix" if heritrix else "json"]
    for site in capture_folders(folder):
        with open_state(site) as store:
            if not_followed:
                for row in store.outside():
                    click.echo(json.dumps(row._asdict()))
                continue
            with_data = _judged_with_data(store)
            for exchange in store.exchanges():
                if not failed or exchange.result not in BROUGHT:
                    verdict = exchange.verdict or with_data.get((exchange.site, exchange.url))
                    click.echo(line(exchange._replace(verdict=verdict)))
        if refuted_in(site / DATA):
            click.echo(f"sharc: {site}: {DOUBT}: the verdicts above are no claims", err=True)


def _judged_with_data(store: Stored) -> dict[tuple[str, str], str]:
    """The verdicts of pages shown by browsers, by site and URL; without unknown pages while a capture runs."""
    if all(row.spec.settings.get("browser", "never") == "never" for row in store.captures().values()):
        return {}
    return {
        (facts.site, page.url): page.verdict.value
        for facts in capture_facts(store)
        for page in facts.pages
        if page.kind is Kind.PAGE and page.verdict and (facts.ended or page.verdict is not Verdict.UNKNOWN)
    }
