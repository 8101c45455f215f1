"""What a crawl leaves behind: its seeds judged, report, certificate, package. Imported when the crawl ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sharc_crawler.certificate.writing import certify, lines
from sharc_crawler.report.load import capture_facts, is_instant
from sharc_crawler.report.terminal import summary
from sharc_crawler.report.write import write
from sharc_crawler.seeds.base import SELECTION

if TYPE_CHECKING:
    from pathlib import Path

    from sharc_crawler.evidence.facts import CaptureFacts
    from sharc_crawler.frontier.store import Batch
    from sharc_crawler.live.config import Config


def leave(state: Batch, folder: Path, stopped: str, config: Config) -> str:
    """Write all of it; the summary for readers. ``stopped``: why the crawl ended before its captures, if it did."""
    if (folder / SELECTION).exists():
        from sharc_crawler.live.seeding.judging import judge  # archives' readers: only where seeds were ranked

        judge(folder, state)
    facts = capture_facts(state)
    if is_instant(state):
        from sharc_crawler.report.instant.output import write as write_instant  # only of instant crawls

        text = write_instant(state, folder, stopped)
        return text + "".join(f"  {name:<12} {path}\n" for name, path in _packaged(facts, folder, config))
    paths = write(facts, folder)
    certified = lines(certify(facts, folder))
    return summary(facts, paths, [*certified, *_packaged(facts, folder, config)], stopped)


def _packaged(facts: list[CaptureFacts], folder: Path, config: Config) -> list[tuple[str, str]]:
    """The WACZ file, where one is wanted and the captures are complete: a line for the summary."""
    if not (config.wacz and config.warc and all(capture.ended is not None for capture in facts)):
        return []
    from sharc_crawler.report.packaging import package  # only where one is wanted

    return [("WACZ", str(package(folder, facts, anew=True)))]
