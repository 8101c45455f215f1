"""Bytes on the wire and back, and whom a crawl connects to."""
