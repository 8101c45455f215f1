"""| Checks state against the WARC files when a crawl goes on: visits whose records are gone are made again."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sharc_crawler.archive.mending import Stock, fits, is_sound, take_stock
from sharc_crawler.model import CaptureRef
from sharc_crawler.plural import counted
from sharc_crawler.state.rows import Batch, VisitRow
from sharc_crawler.storage.withdrawing import withdrawn

logger = logging.getLogger(__name__)


async def relied_on(
    state: Batch, folder: Path, when: str, progress: Callable[[int, int], None] = lambda _, __: None
) -> Batch:
    """The state as far as the WARC files confirm it; the same object if all records are there.

    ``progress`` is given bytes read and in all. Raises :class:`OSError` where the files cannot be read.
    """
    stated = {
        (ref.file, ref.offset): visit.outcome.digest
        for visit in state.visits
        if visit.attempt and (ref := visit.outcome.capture)  # like _place, but fast: there may be a million
    }
    if await asyncio.to_thread(is_sound, folder, stated, progress):
        return state
    since = min(capture.started for capture in state.captures.values())
    stock = await asyncio.to_thread(take_stock, folder, since)
    for name, size in stock.mended.items():
        taken = f"damaged: {counted(size, 'byte')} taken out. As it was it is kept aside" if size else "empty"
        logger.warning("%s was %s.", folder / name, taken)
    lost = {number for number, visit in enumerate(state.visits) if _is_lost(visit, stock)}
    if lost:
        records = counted(len(lost), "record")
        logger.warning("Missing from the WARC files: %s. Their content is downloaded again.", records)
    moved = _moved(state, stock)
    return withdrawn(moved, lost, when) if lost else moved


def _place(visit: VisitRow) -> CaptureRef | None:
    """The place of a visit's record in this capture; ``None`` if it is in a former one."""
    return visit.outcome.capture if visit.attempt else None


def _moved(state: Batch, stock: Stock) -> Batch:
    """The state with the new places of records in repaired files."""
    return replace(state, visits=[_moved_visit(visit, stock) for visit in state.visits])


def _moved_visit(visit: VisitRow, stock: Stock) -> VisitRow:
    ref = _place(visit)
    held = stock.at(ref.file, ref.offset) if ref else None
    if ref is None or held is None or held.offset == ref.offset:
        return visit
    moved = CaptureRef(ref.file, held.offset, held.length)
    return visit._replace(outcome=visit.outcome._replace(capture=moved))


def _is_lost(visit: VisitRow, stock: Stock) -> bool:
    """Whether a visit's record is gone or differs."""
    ref = _place(visit)
    held = stock.at(ref.file, ref.offset) if ref else None
    return ref is not None and (held is None or not fits(held.digest, visit.outcome.digest))
