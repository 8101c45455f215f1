"""| Signature, time stamp and package of a capture, where they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.errors import DataError, SharcError

if TYPE_CHECKING:
    from sharc_crawler.certificate.identities import Ask
    from sharc_crawler.evidence.facts import CaptureFacts
    from sharc_crawler.live.config import Config


def sealed(folder: Path, config: Config) -> Iterator[tuple[str, str]]:
    """Sign and stamp the certificates; a failure is reported, as the capture is complete without them."""
    key, url = config.sign, config.timestamp
    if not (key or url):
        return
    from sharc_crawler.certificate import sealing  # only on request

    again, ask = f"sharc seal {folder}", _authority(config)
    stamped = f" --timestamp {url}" if url else ""
    if key:
        yield from _made("signature", lambda: sealing.sign(folder, Path(key), ask), f"{again} --sign {key}{stamped}")
    if ask:
        yield from _made("time stamp", lambda: sealing.stamp(folder, ask), again + stamped)


def _authority(config: Config) -> Ask | None:
    """Asks the time stamp authority; ``None``: there is none."""
    url, agent, allowed = config.timestamp, config.user_agent or "", config.allowed_addresses
    if not url:
        return None
    from sharc_crawler.live.wire.authority import ask  # only with a time stamp

    return lambda query: ask(url, query, agent, allowed)


def _made(what: str, make: Callable[[], list[Path]], again: str) -> Iterator[tuple[str, str]]:
    try:
        for path in make():
            yield what, str(path)
    except (SharcError, OSError) as error:
        yield what, f"none: {error}"
        yield "", f"the capture is whole; try again with: {again}"


def packaged(facts: list[CaptureFacts], folder: Path, config: Config) -> list[tuple[str, str]]:
    """Write the WACZ file if it is wanted and the captures are complete; returns lines for the summary."""
    if not (config.wacz and config.warc and all(capture.ended is not None for capture in facts)):
        return []
    from sharc_crawler.report.package_check import package_digest  # only then, too
    from sharc_crawler.report.packaging import PackageSeal, package

    seal = PackageSeal(Path(config.sign), _authority(config)) if config.sign else None
    try:
        made = package(folder, facts, anew=True, seal=seal)
        return [("WACZ", str(made)), ("its digest", f"{package_digest(made)} (keep it in another place)")]
    except DataError as error:  # the authority does not answer
        return [("WACZ", f"none: {error}"), ("", f"the capture is whole; try again with: sharc package {folder}")]
