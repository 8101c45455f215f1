"""Why a request brought no answer, in words for the report."""

from __future__ import annotations

from scrapy.exceptions import (
    CannotResolveHostError,
    DownloadCancelledError,
    DownloadConnectionRefusedError,
    DownloadTimeoutError,
    ResponseDataLossError,
)

#: the first that fits; what none fits is named by its class
_WORDS = (
    (CannotResolveHostError, "no such host"),
    (DownloadConnectionRefusedError, "connection refused"),
    (DownloadTimeoutError, "no answer in time"),
    (DownloadCancelledError, "larger than DOWNLOAD_MAXSIZE"),
    (ResponseDataLossError, "cut short"),
)
_LONGEST = 200


def plain(error: Exception) -> str:
    """One line for an exception of the downloader.

    >>> plain(DownloadConnectionRefusedError("Connection was refused by other side: 111."))
    'connection refused'
    >>> plain(ValueError("odd"))
    'ValueError: odd'
    """
    words = next((words for kind, words in _WORDS if isinstance(error, kind)), None)
    return words or f"{type(error).__name__}: {inner(error)}".rstrip(": ")[:_LONGEST]


def inner(error: Exception) -> str:
    """What an error says, or the reasons below it, which Twisted and Scrapy wrap."""
    reasons = getattr(error.__cause__ or error, "reasons", ())
    return "; ".join(dict.fromkeys(reason.getErrorMessage() for reason in reasons)) or str(error)
