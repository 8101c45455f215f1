"""| The site to simulate, and the parameters of it and of a crawl that ``NAME=VALUE`` sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from sharc_crawler.cli._inputs import instant
from sharc_crawler.errors import UsageError, nearest
from sharc_crawler.lab.experiment import RunSpec
from sharc_crawler.lab.history import HistorySpec
from sharc_crawler.lab.synthetic import SyntheticSpec
from sharc_crawler.options.kinds import Flag, Real, Text, ValueKind, Whole
from sharc_crawler.options.reading import ARGUMENTS, checked

ROOT = "/"
_TELLS = ("attested", "lying", "sitemap", "feed", "listing", "late")
_BY_TYPE: Mapping[type, ValueKind[Any]] = {bool: Flag(), int: Whole(), float: Real(), str: Text()}
MADE = {field.name.replace("_", "-"): field.default for field in fields(SyntheticSpec) if field.name != "seed"}
TELLS = {field.name: field.default for field in fields(RunSpec) if field.name in _TELLS}
_UNBOUND = {**_BY_TYPE, int: Whole(-math.inf), float: Real(-math.inf)}  #: SyntheticSpec has its own bounds
#: parameters of --world
WORLD = {
    name: kinds[type(default)] for kinds, of in ((_UNBOUND, MADE), (_BY_TYPE, TELLS)) for name, default in of.items()
}
ARGUED = {name: ARGUMENTS[name].option.kind for name in ("hints", "skip", "subsites")}  #: parameters of -a


def with_defaults(named: Mapping[str, Any]) -> str:
    """Parameters with their defaults, for a help text: ``size=10000, leaves=cold``."""
    return ", ".join(f"{name}={WORLD[name].show(default)}" for name, default in named.items())


def named_values(option: str, texts: Iterable[str], kinds: Mapping[str, ValueKind[Any]]) -> dict[str, Any]:
    """The values of an option's ``NAME=VALUE`` texts, each with one or more, separated by commas.

    >>> named_values("--world", ["size=200,leaves=hot", "slow-down=2"], WORLD)
    {'size': 200, 'leaves': 'hot', 'slow-down': 2.0}
    """
    found: dict[str, Any] = {}
    for text in ",".join(texts).split(",") if texts else ():
        name, equals, value = text.partition("=")
        if name not in kinds:
            raise UsageError(f"{option} {text}: {name!r} is not known{nearest(name, kinds)}")
        if not equals:
            raise UsageError(f"{option} {text}: write it as {name}=VALUE")
        if name in found:
            raise UsageError(f"{option} {text}: {name} was given before; give it once")
        found[name] = checked(kinds[name], name, value)
    return found


def site_spec(
    history: str | None, root: str, window: tuple[str, str] | None, world: Mapping[str, Any]
) -> SyntheticSpec | HistorySpec:
    """The site that the options describe; options of the other kind of site are refused."""
    if history is None:
        if window or root != ROOT:
            raise UsageError(f"{'--window' if window else '--root'}: only of a real site; add --history")
        return SyntheticSpec(**{name.replace("-", "_"): value for name, value in world.items() if name in MADE})
    if stray := sorted(world.keys() & MADE):
        raise UsageError(f"--world {', '.join(stray)}: only of a synthetic site, not of --history {history}")
    if window is None:
        raise UsageError(f"--history {history} needs --window FROM TO: two dates, or unix seconds")
    start, end = map(instant, window)
    return HistorySpec.beside(history, root, start, end)
