"""Which sites are worth a crawl: HACS, temporal sites."""

SELECTION = "seeds.json"  #: in a crawl's output folder: which seeds were chosen, and what came of it
NOT_CAPTURED = "not captured"  #: why it cannot be told whether a seed had changed
