"""How often the pages change, and how many stayed the same as expected, by classes of change rate."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sharc_crawler.rates.base import NO_CHANGE, PRIOR
from sharc_crawler.report.phrases import founded, often

if TYPE_CHECKING:
    from collections.abc import Mapping

#: upper ends of the classes of mean time between changes, in seconds, and what each is called
CLASSES = (
    (10.0, "under 10 s"),
    (60.0, "10 s – 1 min"),
    (600.0, "1 – 10 min"),
    (3_600.0, "10 min – 1 h"),
    (21_600.0, "1 – 6 h"),
    (86_400.0, "6 h – 1 day"),
    (604_800.0, "1 – 7 days"),
    (2_629_800.0, "1 week – 1 month"),
    (31_557_600.0, "1 – 12 months"),
    (1e12, "over a year"),
    (math.inf, "never"),
)
#: and behind them pages whose rates are taken from others
UNKNOWN = often(None, PRIOR)
NAMES = (*(name for _, name in CLASSES), often(None, NO_CHANGE), UNKNOWN)


@dataclass(frozen=True, slots=True)
class RateClass:
    """The captured pages of one class of change rate."""

    name: str
    coherent: int
    changed: int
    unknown: int
    judged: int  #: pages whose interval is known
    expected: float | None  #: of these, those whose content was expected to stay; None: at guessed rates
    counted: int  #: and whose did

    @property
    def pages(self) -> int:
        """All of them."""
        return self.coherent + self.changed + self.unknown


class RateClasses:
    """Counts captured pages by class of change rate."""

    def __init__(self) -> None:
        self._verdicts: list[Counter[str]] = [Counter() for _ in NAMES]
        self._judged: list[list[float]] = [[0, 0.0, 0] for _ in NAMES]

    def add(self, page: Mapping[str, Any]) -> None:
        """Count a page, if it was captured."""
        if page["kind"] != "page" or not page["verdict"]:
            return
        place = _place(page)
        self._verdicts[place][page["verdict"]] += 1
        if page["survival"] is not None:
            judged = self._judged[place]
            judged[0] += 1
            judged[1] += page["survival"]
            judged[2] += page["content"] == "kept"

    def classes(self) -> list[RateClass]:
        """Those between the hottest and the coldest captured page, hottest first; then those without rates."""
        filled = [place for place, verdicts in enumerate(self._verdicts) if verdicts]
        rated = [place for place in filled if place < len(CLASSES)]
        between = range(rated[0], rated[-1] + 1) if rated else ()
        return [self._class(place) for place in (*between, *filled[len(rated) :])]

    def _class(self, place: int) -> RateClass:
        verdicts, (judged, expected, kept) = self._verdicts[place], self._judged[place]
        return RateClass(
            name=NAMES[place],
            coherent=verdicts["coherent"],
            changed=verdicts["changed"],
            unknown=verdicts["unknown"],
            judged=int(judged),
            expected=None if NAMES[place] == UNKNOWN else expected,
            counted=int(kept),
        )


def _place(page: Mapping[str, Any]) -> int:
    if not founded(page):
        return NAMES.index(often(page["rate"], page["rate_source"]))
    mean = 1 / page["rate"] if page["rate"] else math.inf
    return next(place for place, (end, _) in enumerate(CLASSES) if mean <= end)
