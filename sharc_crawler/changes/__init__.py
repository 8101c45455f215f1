"""Detect changes of pages: digests, fingerprints of content, masks for noise."""
