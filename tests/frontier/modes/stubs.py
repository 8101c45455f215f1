"""A mode without the frontier around it: it knows what it is given, and what it calls is noted."""

from __future__ import annotations

from typing import Any

YES_OR_NO = (False, True)


def bare(kind: type, **given: Any) -> Any:
    """One of that kind that knows no more than is given."""
    made = kind.__new__(kind)
    vars(made).update(given)
    return made


class Noted:
    """Notes what is called, and answers with what is given."""

    def __init__(self) -> None:
        self.calls: list[tuple] = []

    def one(self, name: str, answer: Any = None) -> Any:
        return lambda *given, **more: self.calls.append((name, *given, *more.values())) or answer

    def take(self) -> list[tuple]:
        """Those since it was asked last."""
        taken, self.calls = self.calls, []
        return taken
