"""The report of an instant crawl: how soon what was published was captured, and at what cost."""
