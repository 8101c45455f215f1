"""Choice of seeds: HACS (likely changed since the last capture) and temporal sites."""

SELECTION = "seeds.json"  #: file in a crawl's output folder: the chosen seeds, and whether they had changed
NOT_CAPTURED = "not captured"  #: reason why it is unknown whether a seed had changed
