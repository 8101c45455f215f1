"""Simulated crawls: the frontier of a live crawl in virtual time, on synthetic and replayed sites."""
