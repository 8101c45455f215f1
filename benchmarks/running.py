"""A command that is looked at while it runs: what it, and the processes that it starts, take and hold (Linux)."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, NoReturn

from bench_opening import cost

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

CHECKOUT = Path(__file__).parents[1]
OFTEN = 0.02  #: seconds between two looks


class Spent(NamedTuple):
    """What processes took."""

    seconds: float  #: of the processor
    megabytes: float  #: the most that one of them held


class Running:
    """A command with this checkout's code and, if so, with a profile in a folder; what it says goes into a file there.

    Memory is read from /proc: what ``wait4`` says of a process begins with what its parent held when it was forked.
    """

    def __init__(self, command: Sequence[str], folder: Path, profile: str = "") -> None:
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(folder), str(CHECKOUT)])}
        if profile:
            environment["SCRAPY_SETTINGS_MODULE"] = profile
        self._command, self._said = command, folder / "said"
        with self._said.open("wb") as said:
            self._process = subprocess.Popen(
                command, cwd=folder, env=environment, start_new_session=True, stdout=said, stderr=said
            )
        self.own = Spent(0.0, 0.0)
        self._others: dict[int, Spent] = {}
        self._whole = 0.0

    def runs(self) -> bool:
        """Look at it once."""
        pid = self._process.pid
        with suppress(OSError, StopIteration):  # it has ended
            self.own = Spent(*cost(pid))
            for other in map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split()):
                with suppress(OSError, StopIteration):
                    self._others[other] = Spent(*cost(other))
        if self._process.returncode is None:
            ended, status, used = os.wait4(pid, os.WNOHANG)
            if ended:
                self._process.returncode = os.waitstatus_to_exitcode(status)
                self._whole = used.ru_utime + used.ru_stime
        return self._process.returncode is None

    def others(self) -> Spent:
        """What it started took, together."""
        seen = self._others.values()
        return Spent(sum(one.seconds for one in seen), max((one.megabytes for one in seen), default=0.0))

    def until(self, over: Callable[[], bool]) -> Spent:
        """What the process itself took until then."""
        while not over():
            if not self.runs():
                self.fail()
            time.sleep(OFTEN)
        self.runs()
        return self.own

    def whole(self, codes: Sequence[int] = (0,)) -> Spent:
        """What all took to the end."""
        while self.runs():
            time.sleep(OFTEN)
        if self._process.returncode not in codes:
            self.fail()
        return Spent(self._whole, max(self.own.megabytes, self.others().megabytes))

    def kill(self) -> None:
        os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        time.sleep(0.5)  # its processes see that it is gone

    def fail(self) -> NoReturn:
        said = self._said.read_text()[-2000:]
        raise SystemExit(f"{' '.join(self._command)}: {self._process.returncode}\n{said}")


def told_apart(crawl: Running, over: Callable[[], bool]) -> Iterator[tuple[str, Spent]]:
    """The crawl until it is over, the processes beside it (its writer), what comes after, and all of it."""
    own = crawl.until(over)
    whole, others = crawl.whole(), crawl.others()
    yield "crawl", own
    yield "writer", others
    yield "end", Spent(whole.seconds - own.seconds - others.seconds, crawl.own.megabytes)
    yield "whole", whole
