"""| Writes the ends of many sites, several at once: a disk syncs several files in the time of one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from threading import Event
from time import monotonic, process_time
from typing import TYPE_CHECKING, Any

from sharc_crawler.live.closing import AT_ONCE
from sharc_crawler.live.monitoring.stopping import StoppedError

if TYPE_CHECKING:
    from sharc_crawler.live.ending import End, Left, Problem
    from sharc_crawler.model import Seconds


WAITED = 1.5  #: wall time over processor time, from which on the ends are held to wait for the disk


def in_turn(
    beginnings: Iterable[Callable[[], End]], tried: Callable[..., Any], told: Callable[[int], None]
) -> Iterator[Left | Problem]:
    """The results of the ends, in order; ``told`` is given how many were begun."""
    for number, begin in enumerate(beginnings):
        told(number)
        yield tried(lambda begin: begin()(_silent_progress), begin)


def at_once_next(clock: Seconds, processor: Seconds) -> int:
    """How many ends to write at once, from the last ones' times: threads that do not wait only cost processor time."""
    return AT_ONCE if clock > WAITED * processor else 1


def in_threads(
    beginnings: Iterable[Callable[[], End]],
    tried: Callable[..., Any],
    told: Callable[[int], None],
    at_once: Callable[[Seconds, Seconds], int] = at_once_next,
) -> Iterator[Left | Problem]:
    """The results of the ends: each begun by this thread and ``tried`` in another, several at once where they wait.

    If this thread is stopped, the others are too, and have ended when the error is raised.
    """
    waiting, begun, most, halted = iter(beginnings), 0, 1, Event()

    def go_on(*_: object, **__: object) -> None:
        if halted.is_set():
            raise StoppedError("stopped with the others")

    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            while True:
                clock, processor = monotonic(), process_time()
                ends: list[Future[Left | Problem]] = []
                for begin in islice(waiting, most):
                    told(begun)
                    end = tried(begin)
                    ends.append(pool.submit(tried, end, go_on) if callable(end) else pool.submit(lambda end: end, end))
                    begun += 1
                if not ends:
                    return
                yield from [end.result() for end in ends]  # wait for all before a store is closed
                most = at_once(monotonic() - clock, process_time() - processor)
        finally:
            halted.set()


def _silent_progress(*_: object, **__: object) -> None:
    """A progress that says nothing: many sites are reported one by one."""
