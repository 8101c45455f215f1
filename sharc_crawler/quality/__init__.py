"""Blur and coherence."""
