"""Suggestions for unknown names."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from sharc_crawler.guides import guide


def suggested(name: str, allowed: Iterable[str], listed: str = "") -> str:
    """Return the end of a sentence on an unknown name: a suggestion. ``listed``: the guide that lists many names.

    >>> suggested("bsf", ["bfs", "dfs"])
    "; did you mean 'bfs'? Allowed: bfs, dfs"
    >>> suggested("strat", ["state", "strategy"])
    "; did you mean 'strategy'? Allowed: state, strategy"
    >>> suggested("strat", ["state", "strategy"], "arguments")
    "; did you mean 'strategy'? All are in docs/arguments.md"
    """
    names = sorted(allowed)
    if not names:
        return "; there is none"
    begun = [known for known in names if len(name) > 1 and known.startswith(name)]  # perhaps abbreviated
    near = begun if len(begun) == 1 else difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return f"{hint} All are in {guide(listed)}" if listed else f"{hint} Allowed: {', '.join(names)}"
