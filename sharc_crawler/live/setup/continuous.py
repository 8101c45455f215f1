"""``-a mode=continuous``: what such a capture has to be told."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from sharc_crawler.errors import UsageError
from sharc_crawler.strategies.upkeep import make_upkeep

if TYPE_CHECKING:
    from sharc_crawler.options.table import Options


def kept_up(options: Options) -> dict[str, object]:
    """The terms of a capture that goes on; raises :class:`~sharc_crawler.errors.UsageError` where they lack."""
    for name, value in (("for", options.for_), ("requests", options.requests)):
        if value == math.inf:
            raise UsageError(f"mode='continuous' needs {name}=, as in -a mode=continuous -a for=30d -a requests=60")
    make_upkeep(options.upkeep)
    if options.browser != "never":
        raise UsageError(f"browser={options.browser!r} is for whole captures, not for mode=continuous: leave it out")
    return {"mode": "continuous", "lasts": options.for_, "looks": options.requests, "upkeep": options.upkeep}
