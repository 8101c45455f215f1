"""What is said of a name that is none of the allowed ones."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from sharc_crawler.guides import guide


def suggested(name: str, allowed: Iterable[str], listed: str = "") -> str:
    """The end of a sentence on a name that is none of the allowed ones. ``listed``: the guide that has many of them.

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
    begun = [known for known in names if len(name) > 1 and known.startswith(name)]  # the rest was left out
    near = begun if len(begun) == 1 else difflib.get_close_matches(name, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else "."
    return f"{hint} All are in {guide(listed)}" if listed else f"{hint} Allowed: {', '.join(names)}"
