"""Failures of a crawl: how they are recorded and reported, what goes on, and how a crawl ends that cannot."""
