"""Sentences on captures that are not complete, and how to resume them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from shlex import quote
from typing import Any

from sharc_crawler.errors import UsageError
from sharc_crawler.evidence.facts import CaptureFacts
from sharc_crawler.report.marks import UNDER_WAY
from sharc_crawler.report.words import collected
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.make import make_strategy


def going_on(folder: Path) -> str:
    """How to resume an unfinished crawl; in a collection it finds its folder by itself.

    >>> from pathlib import Path
    >>> going_on(Path("captures/example.org"))
    'the same command resumes it, with -a output=captures/example.org'
    """
    if collected(folder):
        return "the same command resumes it"
    return f"the same command resumes it, with -a output={quote(str(folder))}"


def summary_line(facts: CaptureFacts, folder: Path, stopped: str) -> str:
    """The summary's line; ``stopped``: how the crawl was stopped, if it was."""
    if UNDER_WAY in facts.notes:
        return "Not complete: it is being captured"
    how = f"Stopped {stopped}, not complete" if stopped else "Not complete"
    if "spider" in facts.settings:
        if "resume" in facts.settings:
            return f"{how}: the same command resumes it"
        where = "a project's own spider goes on where it began with SHARC_RESUME=True"
        return f"{how}: begin anew, in another folder ({where})"
    return f"{how}: {going_on(folder)}"


def going_on_with(report: Mapping[str, Any]) -> tuple[str, str]:
    """The report's next step: a sentence and a command."""
    if spider := report["settings"].get("spider"):
        words = "It is not complete. With SHARC_RESUME=True the same command resumes it."
        return words, f"scrapy crawl {spider}"
    url = report["seeds"][0] if report["seeds"] else "URL"
    return "It is not complete. The same command resumes it.", f"scrapy crawl site -a url={url} -a output=FOLDER"


def revisits(strategy: str) -> bool:
    """Does a strategy revisit? False if it is not installed here."""
    with suppress(UsageError):
        return make_strategy(strategy, Setting()).revisits
    return False
