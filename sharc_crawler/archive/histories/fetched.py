"""Answers of an archive on disk: what is there was asked for once and is not asked for again."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.warc_names import safe_name
from sharc_crawler.errors import UsageError

ABOUT = "fetch.json"  #: what was asked, so that answers to different questions are not mixed
_UNFINISHED = ".part"  #: added to a seed's folder until all of its answers are there


class AnswerFolder:
    """A folder of answers: ``index/SEED/00000`` … and, in WARCs, ``mementos/``.

    An answer counts when it is whole on disk; a seed's folder gets its name when all its answers are there.
    """

    def __init__(self, folder: Path, about: dict[str, Any]) -> None:
        self.folder = folder
        self.index = folder / "index"
        self.mementos = folder / "mementos"
        try:
            self.index.mkdir(parents=True, exist_ok=True)
            self._same(about)
        except OSError as error:
            raise UsageError(f"output={str(folder)!r} cannot be used: {error.strerror or error}") from error

    def complete(self, url: str) -> bool:
        """Whether all answers about a seed are there."""
        return self._of(url).is_dir()

    def answers(self, url: str) -> list[bytes]:
        """The answers that are there already, in the order of the questions."""
        folder = self._of(url) if self.complete(url) else self._of(url, _UNFINISHED)
        return [file.read_bytes() for file in sorted(folder.glob("[0-9]*"))]

    def keep(self, url: str, number: int, answer: bytes) -> None:
        """Keep the answer to a seed's n-th question."""
        unfinished = self._of(url, _UNFINISHED)
        unfinished.mkdir(exist_ok=True)
        replace_file(unfinished / f"{number:05d}", answer)

    def finish(self, url: str) -> None:
        """All answers about a seed are there."""
        self._of(url, _UNFINISHED).rename(self._of(url))

    def replayed(self) -> dict[str, int]:
        """The addresses of mementos in the WARCs, with their status."""
        files = sorted(self.mementos.glob(f"*{SUFFIX}"))
        return {entry.url: int(entry.status or 0) for file in files for entry in entries(file)}

    def _of(self, url: str, suffix: str = "") -> Path:
        return self.index / f"{safe_name(url.partition('://')[2])}{suffix}"

    def _same(self, about: dict[str, Any]) -> None:
        path = self.folder / ABOUT
        if not path.exists():
            replace_file(path, json.dumps(about, indent=1))
        elif (held := json.loads(path.read_bytes())) != about:
            differing = ", ".join(f"{name}={held.get(name)!r}" for name in about if held.get(name) != about[name])
            raise UsageError(
                f"output={str(self.folder)!r} holds answers to other questions ({differing}); choose another folder"
            )
