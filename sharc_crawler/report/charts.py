"""How often the pages change, and how many stayed the same as expected, by classes of change rate."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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


@dataclass(frozen=True, slots=True)
class RateClass:
    """The captured pages of one class of change rate."""

    name: str
    coherent: int
    changed: int
    unknown: int
    judged: int  #: pages whose interval is known
    expected: float  #: of these, those whose content was expected to stay
    counted: int  #: and whose did

    @property
    def pages(self) -> int:
        """All of them."""
        return self.coherent + self.changed + self.unknown


def rate_classes(document: Mapping[str, Any]) -> list[RateClass]:
    """The classes between the hottest and the coldest captured page, hottest first."""
    pages = [page for page in document["pages"] if page["kind"] == "page" and page["verdict"]]
    members: list[list[Mapping[str, Any]]] = [[] for _ in CLASSES]
    for page in pages:
        members[_place(page["rate"])].append(page)
    filled = [place for place, group in enumerate(members) if group]
    if not filled:
        return []
    return [_class(CLASSES[place][1], members[place]) for place in range(filled[0], filled[-1] + 1)]


def _place(rate: float | None) -> int:
    mean = 1 / rate if rate else math.inf
    return next(place for place, (end, _) in enumerate(CLASSES) if mean <= end)


def _class(name: str, pages: Sequence[Mapping[str, Any]]) -> RateClass:
    verdicts = Counter(page["verdict"] for page in pages)
    judged = [page for page in pages if page["survival"] is not None]
    return RateClass(
        name=name,
        coherent=verdicts["coherent"],
        changed=verdicts["changed"],
        unknown=verdicts["unknown"],
        judged=len(judged),
        expected=sum(page["survival"] for page in judged),
        counted=sum(page["verdict"] == "coherent" or _only_noise(page) for page in judged),
    )


def _only_noise(page: Mapping[str, Any]) -> bool:
    """As :func:`~sharc_crawler.evidence.measures.only_noise`."""
    return page["verdict"] == "changed" and page["evidence"] == "bytes" and page["fingerprint_equal"] is True
