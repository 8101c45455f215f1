"""Capture the living site with the real command, then compare every judgement with the site's own change log."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import click

from sharc_crawler.cli._truth import write_truth
from sharc_crawler.plural import counted
from sharc_crawler.report.opened import open_facts
from sharc_crawler.report.write import write

if TYPE_CHECKING:
    from collections.abc import Iterable

    from sharc_crawler.demo import LivingSite
    from sharc_crawler.evidence.facts import CaptureFacts
    from sharc_crawler.model import Instant
    from sharc_crawler.report.pages import Truth

PROFILE = "sharc_crawler.live.profile"
DELAY = 0.05  #: seconds between two requests; nobody else uses the site


def demo_folder() -> Path:
    """The folder of a capture that begins now, where nobody names one."""
    return Path("captures") / time.strftime("demo-%Y%m%dT%H%M%SZ", time.gmtime())


def capture(site: LivingSite, url: str, strategy: str, folder: Path) -> int:
    """Run ``scrapy crawl site`` on a site that is being served; its exit code."""
    arguments = ["crawl", "site", "-a", f"url={url}", "-a", f"strategy={strategy}", "-a", f"output={folder}"]
    arguments += ["-a", "browser=auto"] if site.script else []
    click.echo(f"$ scrapy {' '.join(arguments)}")
    periods = json.dumps(site.changefreqs)  # the site lives faster than its sitemap's words: a day is two minutes
    settings = ["-s", "SHARC_BACK_OFF=1", "-s", f"SHARC_CHANGEFREQ={periods}"]
    done = subprocess.run(  # noqa: S603 - our own command with our own arguments
        [sys.executable, "-m", "scrapy", *arguments, "-a", f"delay={DELAY}", *settings],
        env={**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE},
        check=False,
    )
    if done.returncode == 0:
        _compare_with_truth(site, folder)
    return done.returncode


def site_truth(site: LivingSite) -> Truth:
    """The true changes of a living site's URLs."""

    def truth(url: str, start: Instant, end: Instant) -> Iterable[Instant] | None:
        parts = urlsplit(url)
        path = f"{parts.path}?{parts.query}" if parts.query else parts.path
        return site.changes(path, start, end) if path in site.paths or path in site.resources else None

    return truth


def _compare_with_truth(site: LivingSite, folder: Path) -> None:
    """Write the report again, now that the truth is known, and say how they agree."""
    with open_facts(folder, site_truth(site)) as facts:
        with (folder / "truth.jsonl").open("w") as file:
            write_truth(site, min(capture.started for capture in facts), time.time(), file)
        write(facts, folder)
        click.echo(agreement(facts))


def agreement(facts: list[CaptureFacts]) -> str:
    """How our judgements compare with what really happened, in one sentence."""
    known = [page for capture in facts for page in capture.pages if page.truth is not None and page.verdict]
    agree = sum((page.verdict == "coherent") == page.truth for page in known if page.verdict != "unknown")
    unknown = sum(page.verdict == "unknown" for page in known)
    return (
        f"The site's own change log says the same for {agree} of {counted(len(known), 'revisited page')} and resources"
        f"{f' ({unknown} we call unknown)' if unknown else ''}."
    )
