"""A site of a few pages at a.example: its links, its order, what was asked for and judged."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from sharc_crawler.model import (
    Hints,
    Kind,
    Sighting,
    Slot,
    Verdict,
)
from sharc_crawler.state.spec import CaptureSpec
from sharc_crawler.storage.memory import MemoryStore

if TYPE_CHECKING:
    from sharc_crawler.state.rows import Batch

ROOT = "http://a.example/"


def page(path: str, **hints) -> Sighting:
    return Sighting(ROOT + path, hints=Hints(**hints) if hints else None)


def spec(**changed) -> CaptureSpec:
    return dataclasses.replace(CaptureSpec("a.example", (ROOT,), strategy="sharc-selective", sitemaps=()), **changed)


def urls(fetches, kind=Kind.PAGE, slots=tuple(Slot)) -> list[str]:
    return [fetch.url.removeprefix(ROOT) for fetch in fetches if fetch.kind is kind and fetch.slot in slots]


def verdicts(store) -> dict[str, Verdict]:
    state = store.load()
    return {state.pages[row.page].url.removeprefix(ROOT): row.verdict for row in state.judgements}


class FullStore(MemoryStore):
    """One whose disk is full as long as there is no ``room``."""

    room = True

    def commit(self, batch: Batch) -> None:
        if not self.room:
            raise OSError(28, "No space left on device")
        super().commit(batch)
