"""Ctrl-C while a program's modules are still loading: a line instead of a traceback."""

import sys
from types import TracebackType


def end_quietly(message: str, code: int) -> None:
    """Have a KeyboardInterrupt that nobody catches end the program with this line on stderr and this exit code."""
    otherwise = sys.excepthook

    def ended(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if issubclass(kind, KeyboardInterrupt):
            sys.stderr.write(f"{message}\n")
            sys.exit(code)
        otherwise(kind, error, trace)

    sys.excepthook = ended
