"""Runs simulated crawls in several processes, and reports their progress."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import TYPE_CHECKING, Protocol, TypeVar

if TYPE_CHECKING:
    from ctypes import Array, c_double

    from sharc_crawler.lab.experiment import RunSpec

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
POLL = 0.25  #: seconds between reports of progress

_shares: Array[c_double]  # in a worker: the share of each run that is done, in memory shared with the parent


class PooledWork(Protocol[T_co]):
    """A function at module level, so that other processes can import it."""

    def __call__(self, spec: RunSpec, tell: Callable[[float], None]) -> T_co:
        """Do the work; ``tell`` is called with the share that is done."""


def run_all(work: PooledWork[T], specs: Sequence[RunSpec], jobs: int, tell: Callable[[float], None]) -> list[T]:
    """The results of ``work`` for all specs, in their order; ``tell`` is called with the number of runs done so far."""
    if jobs == 1 or len(specs) <= 1:
        return [_alone(work, spec, done, tell) for done, spec in enumerate(specs)]
    context = get_context("spawn")
    shares = context.Array("d", len(specs), lock=False)
    with ProcessPoolExecutor(min(jobs, len(specs)), context, _take_shares, (shares,)) as pool:
        futures = [pool.submit(_do, work, number, spec) for number, spec in enumerate(specs)]
        while wait(futures, POLL, FIRST_EXCEPTION).not_done and not any(map(_failed, futures)):
            tell(sum(shares))
        pool.shutdown(cancel_futures=True)  # the others, if one has failed
        for future in filter(_failed, futures):
            future.result()
        return [future.result() for future in futures]


def _alone(work: PooledWork[T], spec: RunSpec, done: int, tell: Callable[[float], None]) -> T:
    """Run in this process, after ``done`` others."""
    result = work(spec, lambda share: tell(done + share))
    tell(done + 1)
    return result


def _failed(future: Future[T]) -> bool:
    return future.done() and not future.cancelled() and future.exception() is not None


def _take_shares(shares: Array[c_double]) -> None:
    global _shares
    _shares = shares
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End this process when its parent ends: a killed parent cannot end its workers."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _do(work: PooledWork[T], number: int, spec: RunSpec) -> T:
    def tell(share: float) -> None:
        _shares[number] = share

    done = work(spec, tell)
    tell(1.0)
    return done
