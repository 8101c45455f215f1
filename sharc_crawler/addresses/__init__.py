"""Addresses: what is one URL, which are known, which nobody gave or software makes by itself."""
