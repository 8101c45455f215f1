"""Who holds how many sites: a worker that comes gets its share from those that hold more."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def surplus(worker: str, alive: Iterable[tuple[str, int, int]]) -> int:
    """How many sites a worker is to hand over: those beyond an equal share, as far as others have room for them.

    ``alive``: of each worker its name, the sites that it holds, and how many it would hold at most.

    >>> surplus("a", [("a", 10, 20), ("b", 0, 20)]), surplus("b", [("a", 10, 20), ("b", 0, 20)])
    (5, 0)
    >>> surplus("a", [("a", 10, 20), ("b", 0, 2)]), surplus("a", [("a", 3, 20), ("b", 2, 20)])
    (2, 0)
    """
    known = list(alive)
    if not known:
        return 0
    share = -(-sum(held for _, held, _ in known) // len(known))
    mine = next((held for name, held, _ in known if name == worker), 0)
    wanted = sum(max(0, min(room, share) - held) for name, held, room in known if name != worker)
    return max(0, min(mine - share, wanted))
