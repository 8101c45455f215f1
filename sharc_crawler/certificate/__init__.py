"""The coherence certificate: what a capture claims, page by page, and the proof of it from the WARC files alone."""
