"""A store as a third party writes it: one file of JSON lines in the capture's folder, fenced by a number.

Whoever opens it writes the next number into ``epoch``; a commit of a former owner finds another one there.
"""

from __future__ import annotations

import os

from sharc_crawler.errors import DataError, StoreUnavailable, Superseded
from sharc_crawler.storage.exchange_log import exchanges_of
from sharc_crawler.storage.memory import MemoryStore
from sharc_crawler.storage.plain import of_json, to_json


class LinesStore:
    def __init__(self, folder, *, reading=False):
        self._path, self._epoch_path, self._reading = folder / "state.lines", folder / "epoch", reading
        self._epoch = self._epoch_found()
        if not reading:
            self._epoch += 1
            self._epoch_path.write_text(str(self._epoch))
            self._path.touch()
            _cut(self._path)

    @staticmethod
    def holds(folder):
        return (folder / "state.lines").is_file() and (folder / "state.lines").stat().st_size > 0

    @staticmethod
    def set_aside(folder):
        if (folder / "state.lines").exists():
            (folder / "state.lines").replace(folder / "state.lines.damaged")

    def commit(self, batch):
        self._append(to_json(batch))

    def replace(self, state):
        self._append("replace " + to_json(state))

    def load(self):
        return self._known().load()

    def captures(self):
        return self._known().captures()

    def hosts(self):
        return self._known().hosts()

    def subsites(self):
        return self._known().subsites()

    def urls(self, capture):
        return self._known().urls(capture)

    def outside(self):
        return self._known().outside()

    def exchanges(self, after=0):
        return exchanges_of(self._known().load(), after)

    def links(self):
        return self._known().links()

    def close(self):
        pass

    def _append(self, text):
        if self._reading:
            raise StoreUnavailable(f"{self._path} was opened to be read")
        if self._epoch_found() != self._epoch:
            raise Superseded(f"{self._path} is another crawl's by now")
        try:
            with self._path.open("ab") as file:
                file.write(text.encode() + b"\n")
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise StoreUnavailable(f"{self._path}: {error}") from error

    def _epoch_found(self):
        return int(self._epoch_path.read_text()) if self._epoch_path.exists() else 0

    def _known(self):
        known = MemoryStore()
        try:
            for line in self._path.read_bytes().split(b"\n")[:-1]:  # behind the last one: torn
                text = line.decode()
                if text.startswith("replace "):
                    known.replace(of_json(text.removeprefix("replace ")))
                else:
                    known.commit(of_json(text))
        except (ValueError, KeyError, TypeError) as error:
            raise DataError(f"{self._path} is damaged: {error}") from error
        return known


def _cut(path):
    """Take away what a crash left of a line."""
    whole = path.read_bytes().rfind(b"\n") + 1
    os.truncate(path, whole)
