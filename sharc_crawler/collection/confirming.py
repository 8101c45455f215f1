"""| Confirms captures of a collection when they are due, each by ``sharc confirm``."""

from __future__ import annotations

import math
import signal
import subprocess
import sys
import time
from collections.abc import Container, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.certificate.confirming import waits
from sharc_crawler.certificate.fixity import NAME

if TYPE_CHECKING:
    from sharc_crawler.collection.folder import Collection
    from sharc_crawler.model import Instant, Seconds

AGAIN: Seconds = 6 * 3600.0  #: after reading the sitemaps failed, or confirmed nothing
PATIENCE: Seconds = (
    7 * 86_400.0
)  #: after the due time: by then its pages have probably changed, which no reading undoes


def command(folder: Path, settings: Mapping[str, str]) -> list[str]:
    """``sharc confirm`` for a capture, as a process: Scrapy's reactor runs only once."""
    chosen = [f"-s{name}={value}" for name, value in settings.items()]
    return [sys.executable, "-c", "from sharc_crawler.cli import main; main()", "confirm", str(folder), *chosen]


class Confirmer:
    """Confirms captures one by one; ``log`` has the output of the last one."""

    def __init__(self, log: Path, environment: Mapping[str, str]) -> None:
        self._log, self._environment = log, environment
        self._due: dict[Path, Instant] = {}  #: of captures whose certificates were read; inf: never
        self._until: dict[Path, Instant] = {}  #: when these are given up
        self._folder: Path | None = None  #: the capture being confirmed
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def running(self) -> bool:
        """Whether a capture is being confirmed."""
        return self._process is not None

    def begin(self, collection: Collection, busy: Container[str]) -> None:
        """Begin to confirm a capture that is due, if its site is not ``busy``."""
        if self._process is not None:
            return
        self._folder = next((folder for folder in self._waiting(collection, busy)), None)
        if self._folder is not None:
            words = command(self._folder, collection.terms.settings)
            self._log.parent.mkdir(exist_ok=True)
            with self._log.open("wb") as out:
                self._process = subprocess.Popen(  # noqa: S603 - our own
                    words, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=self._environment,
                    start_new_session=True,
                )  # fmt: skip

    def ended(self) -> str:
        """The result of a confirmation that has ended; "": none has."""
        code = self._process.poll() if self._process else None
        if code is None or self._folder is None:
            return ""
        self._process = None
        next_try = time.time() + AGAIN
        tried = bool(code) and next_try < self._until[self._folder]
        self._due[self._folder] = next_try if tried else math.inf
        next_ = "is tried again in six hours" if tried else "is left: sharc confirm tries once more"
        came = f"could not be confirmed, and {next_} ({self._log})" if code else "is confirmed"
        return f"{self._folder.parent.name}: {self._folder.name} {came}"

    def stop(self) -> None:
        """Kill the running confirmation; it is repeated another time."""
        if self._process is not None:
            self._process.send_signal(signal.SIGKILL)  # nothing is lost by that
            self._process.wait()
            self._process = None

    def _waiting(self, collection: Collection, busy: Container[str]) -> Iterator[Path]:
        now = time.time()
        for capture in collection.captures():
            folder = capture.folder
            if folder not in self._due and (folder / NAME).exists():
                left = waits(folder)
                self._until[folder] = left.due + PATIENCE if left else -math.inf
                self._due[folder] = left.due if left and now < self._until[folder] else math.inf
            if self._due.get(folder, math.inf) <= now and capture.site not in busy:
                yield folder
