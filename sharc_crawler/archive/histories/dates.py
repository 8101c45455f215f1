"""Fourteen-digit timestamps of indexes as instants."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_FIRST_YEAR = 1990  #: there was no web before
_DIGITS = 14


def instant(stamp: bytes) -> float:
    """Unix seconds of a timestamp ``YYYYMMDDhhmmss``; :class:`ValueError` for an impossible one.

    >>> instant(b"20010410213930")
    986938770.0
    """
    try:
        if len(stamp) != _DIGITS or not stamp.isdigit() or int(stamp[:4]) < _FIRST_YEAR:
            raise ValueError
        month, day, hour, minute, second = (int(stamp[at : at + 2]) for at in range(4, _DIGITS, 2))
        return datetime(int(stamp[:4]), month, day, hour, minute, second, tzinfo=UTC).timestamp()
    except ValueError:
        raise ValueError(f"impossible date {stamp.decode('latin-1')!r}") from None


def instants(stamps: Sequence[bytes]) -> NDArray[np.float64]:
    """Many timestamps as instants at once; :class:`ValueError` if any is impossible.

    >>> instants([b"20010410213930"]).tolist()
    [986938770.0]
    """
    digits = np.frombuffer(b"".join(stamps), np.uint8).astype(np.int64) - ord("0")
    if set(map(len, stamps)) != {_DIGITS} or digits.min() < 0 or digits.max() > 9:
        raise ValueError("a timestamp is not 14 digits")
    pairs = digits[::2] * 10 + digits[1::2]
    century, year, month, day, hour, minute, second = pairs.reshape(-1, 7).T
    months = (century * 1200 + year * 12 + month - 1 - 1970 * 12).astype("datetime64[M]")
    days = months.astype("datetime64[D]") + (day - 1)
    good = (month >= 1) & (month <= 12) & (day >= 1) & (days.astype("datetime64[M]") == months)
    good &= (hour < 24) & (minute < 60) & (second < 60) & (century * 100 + year >= _FIRST_YEAR)
    if not good.all():
        raise ValueError("a timestamp is impossible")
    seconds = days.astype(np.int64) * 86_400 + hour * 3_600 + minute * 60 + second
    return np.asarray(seconds, np.float64)
