"""Keep the answers of an archive on disk, so that nothing is requested twice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from sharc_crawler.archive.drafts import replace_file
from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.indexing import entries
from sharc_crawler.archive.warc_names import safe_name
from sharc_crawler.errors import UsageError

ABOUT = "fetch.json"  #: the questions, so that answers to different ones are not mixed
_UNFINISHED = ".part"  #: appended to the name of a seed's folder until it has all answers


class AnswerFolder:
    """A folder of answers: ``index/SEED/00000`` …, and WARC files in ``mementos/``.

    Answers are written whole or not at all; a seed's folder gets its final name with the last one.
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
        """Are all answers about a seed there?"""
        return self._of(url).is_dir()

    def answers(self, url: str) -> list[bytes]:
        """The answers about a seed so far, in the order of the questions."""
        folder = self._of(url) if self.complete(url) else self._of(url, _UNFINISHED)
        return [file.read_bytes() for file in sorted(folder.glob("[0-9]*"))]

    def keep(self, url: str, number: int, answer: bytes) -> None:
        """Keep the answer to a seed's n-th question."""
        unfinished = self._of(url, _UNFINISHED)
        unfinished.mkdir(exist_ok=True)
        replace_file(unfinished / f"{number:05d}", answer)

    def finish(self, url: str) -> None:
        """Mark a seed as complete."""
        self._of(url, _UNFINISHED).rename(self._of(url))

    def replayed(self) -> dict[str, int]:
        """The URLs of mementos in the WARC files, with their status."""
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
