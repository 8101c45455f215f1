"""Runs long work in a thread, for which the end of the crawl does not wait.

A plug-in call that does not return is stopped as in the main thread (:mod:`.failures.watchdog`), unless it is in C.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import Future, wait
from contextlib import suppress
from ctypes import CDLL, c_ulong, py_object, pythonapi
from threading import Thread
from typing import TypeVar

from sharc_crawler.live.failures.watchdog import EVERY, LOOKS, UnansweredError, Watch

T = TypeVar("T")


def by_thread(work: Callable[[], T], looks: int = LOOKS, every: float = EVERY) -> Future[T]:
    """Start the work. A plug-in call under way at ``looks`` looks in a row, ``every`` seconds apart, is stopped.

    >>> by_thread(lambda: 6 * 7).result()
    42
    """
    done = Future[T]()
    worker = Thread(target=_do, args=(work, done), daemon=True)
    worker.start()
    Thread(target=_watch, args=(worker.ident, done, Watch(looks, every), every), daemon=True).start()
    return done


def _do(work: Callable[[], T], done: Future[T]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:  # raised where the result is used
        done.set_exception(error)
    with suppress(AttributeError, OSError, TypeError):  # with glibc: return freed memory to the system
        CDLL(None).malloc_trim(0)


def _watch(worker: int, done: Future[T], watch: Watch, every: float) -> None:
    while wait([done], every).not_done:
        try:
            watch.look(0, sys._current_frames().get(worker))
        except UnansweredError as error:
            said = str(error)  # the thread creates the error itself, from a class
            named = type(UnansweredError.__name__, (UnansweredError,), {"__str__": lambda _, said=said: said})
            pythonapi.PyThreadState_SetAsyncExc(c_ulong(worker), py_object(named))
