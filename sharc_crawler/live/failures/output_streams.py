"""stdout and stderr that drop what they cannot write: they may lead to a full disk or a closed pipe."""

import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any


class _Unfailing:
    """A stream that drops what it cannot write."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> None:
        with suppress(OSError):
            self._stream.write(text)

    def flush(self) -> None:
        with suppress(OSError):
            self._stream.flush()


def unfailing() -> None:
    """Make stdout and stderr drop what they cannot write; a closed one is replaced by the null device."""
    streams = (stream or Path(os.devnull).open("w", encoding="utf-8") for stream in (sys.stdout, sys.stderr))  # noqa: SIM115
    sys.stdout, sys.stderr = map(_Unfailing, streams)
