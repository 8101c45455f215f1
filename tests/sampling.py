"""Which cases of a matrix the default run has."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterable

EVERY = 4


def some(cases: Iterable[str]) -> list[object]:
    """One case of so many; the others in the long run."""
    marks = {False: (), True: pytest.mark.long}
    return [pytest.param(case, marks=marks[number % EVERY > 0]) for number, case in enumerate(cases)]
