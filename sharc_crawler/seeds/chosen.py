"""Where a crawl that chose its seeds says so."""

from __future__ import annotations

SELECTION = "seeds.json"  #: in a crawl's output folder: which seeds were chosen, and what came of it
NOT_CAPTURED = "not captured"  #: why it cannot be told whether a seed had changed
