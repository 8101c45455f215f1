"""Work that takes long, done by a thread, which no end of the crawl waits for."""

from __future__ import annotations

from concurrent.futures import Future
from threading import Thread
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")


def by_thread(work: Callable[[], T]) -> Future[T]:
    """Begin it.

    >>> by_thread(lambda: 6 * 7).result()
    42
    """
    done = Future[T]()
    Thread(target=_do, args=(work, done), daemon=True).start()
    return done


def _do(work: Callable[[], T], done: Future[T]) -> None:
    try:
        done.set_result(work())
    except BaseException as error:  # whoever asks for the result is told
        done.set_exception(error)
