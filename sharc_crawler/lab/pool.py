"""Simulated crawls over several processes, with word of how far they are."""

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
POLL = 0.25  #: seconds

_shares: Array[c_double]  # of each run that are done; in a worker, shared with the parent


class PooledWork(Protocol[T_co]):
    """A function of a module, so that other processes find it."""

    def __call__(self, spec: RunSpec, tell: Callable[[float], None]) -> T_co:
        """Do the work; ``tell`` is given which share of it is done."""


def run_all(work: PooledWork[T], specs: Sequence[RunSpec], jobs: int, tell: Callable[[float], None]) -> list[T]:
    """The work on all specs, in their order; ``tell`` is given from time to time how many are done."""
    if jobs == 1 or len(specs) <= 1:
        return [_alone(work, spec, done, tell) for done, spec in enumerate(specs)]
    context = get_context("spawn")
    shares = context.Array("d", len(specs), lock=False)
    with ProcessPoolExecutor(min(jobs, len(specs)), context, _take_shares, (shares,)) as pool:
        futures = [pool.submit(_do, work, number, spec) for number, spec in enumerate(specs)]
        while wait(futures, POLL, FIRST_EXCEPTION).not_done and not any(map(_failed, futures)):
            tell(sum(shares))
        pool.shutdown(cancel_futures=True)  # where one has failed
        for future in filter(_failed, futures):
            future.result()
        return [future.result() for future in futures]


def _alone(work: PooledWork[T], spec: RunSpec, done: int, tell: Callable[[float], None]) -> T:
    """In this process, behind those that are ``done``."""
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
    """End this process with its parent: one that is killed cannot end those that work for it."""
    if parent := parent_process():
        parent.join()
        os._exit(1)


def _do(work: PooledWork[T], number: int, spec: RunSpec) -> T:
    def tell(share: float) -> None:
        _shares[number] = share

    done = work(spec, tell)
    tell(1.0)
    return done
