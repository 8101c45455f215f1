"""Frontier state and observations on disk."""
