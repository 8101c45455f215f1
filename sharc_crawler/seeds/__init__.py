"""Which sites are worth a crawl: HACS, temporal sites."""
