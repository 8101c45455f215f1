"""Did a page change? Digest, fingerprint, three-valued comparison."""
