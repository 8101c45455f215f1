"""Explain why a dotted path cannot be imported, and suggest the nearest that can."""

from __future__ import annotations

import pkgutil
import sys
from collections.abc import Iterable
from difflib import get_close_matches

from sharc_crawler.errors import nearest

WAY_OUT = "Python looks for modules where PYTHONPATH says; PYTHONPATH=. is this folder"


def why_not(module: str, attribute: str, error: Exception) -> str:
    """Return the end of a sentence on why importing ``module.attribute`` raised ``error``.

    >>> why_not("sharc_crawler.errors", "UsageErrors", AttributeError())
    "sharc_crawler.errors has no 'UsageErrors'; did you mean 'UsageError'? ..."
    >>> why_not("sharc_crawler.error", "UsageError", ModuleNotFoundError("", name="sharc_crawler.error"))
    "there is no module 'error' in sharc_crawler; did you mean 'errors'? ..."
    >>> why_not("no_such_module", "Order", ModuleNotFoundError("", name="no_such_module"))
    "there is no module 'no_such_module'. Python looks for modules where PYTHONPATH says; PYTHONPATH=. is this folder"
    """
    made = sys.modules.get(module)
    if isinstance(error, AttributeError) and made is not None and not hasattr(made, attribute):
        own = [name for name, value in vars(made).items() if getattr(value, "__module__", "") == module]
        return f"{module} has no {attribute!r}{_near(attribute, own)}"
    missing = (error.name or "") if isinstance(error, ModuleNotFoundError) else ""
    if not f"{module}.".startswith(f"{missing}."):
        return f"{module} cannot run: {error}"
    parent, _, last = missing.rpartition(".")
    if parent:
        within = getattr(sys.modules.get(parent), "__path__", ())
        there = (found.name for found in pkgutil.iter_modules(within))
        return f"there is no module {last!r} in {parent}{_near(last, there)}"
    near = get_close_matches(last, [found.name for found in pkgutil.iter_modules()], n=1, cutoff=0.8)
    return f"there is no module {last!r}{f'; did you mean {near[0]!r}?' if near else '.'} {WAY_OUT}"


def _near(name: str, there: Iterable[str]) -> str:
    public = [known for known in there if not known.startswith("_")]
    return nearest(name, public) if public else ", nor anything else"
