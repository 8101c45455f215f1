"""Subsites as users ask for them: ``path``, ``links:share=0.9``."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sharc_crawler import plugins
from sharc_crawler.errors import UsageError, unknown_name
from sharc_crawler.subsites.guarded import guarded

if TYPE_CHECKING:
    from sharc_crawler.subsites.base import Partition

SHARE = 0.95  #: of a part's pages that are expected to be coherent, where the part is said to be


class Division(NamedTuple):
    """How a site is divided."""

    partition: Partition
    share: float  #: of its pages expected to be coherent: a part with less is divided further


def make_division(spec: str) -> Division:
    """The division ``NAME`` or ``NAME:share=SHARE``.

    Raises :class:`~sharc_crawler.errors.UsageError` for an unknown name, option or value.

    >>> make_division("path:share=0.9").share
    0.9
    """
    name, *options = spec.split(":")
    partition = guarded(name, plugins.load("subsites", name))
    share = SHARE
    for option in options:
        key, _, value = option.partition("=")
        if key != "share":
            raise unknown_name(f"option of subsites={name}", key, ("share",))
        share = _share(spec, value)
    return Division(partition, share)


def _share(spec: str, text: str) -> float:
    try:
        share = float(text)
    except ValueError:
        share = 0.0
    if not 0 < share <= 1:
        raise UsageError(f"subsites={spec!r}: share={text!r} must be a share above 0, up to 1, such as {SHARE}")
    return share
