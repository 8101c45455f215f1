"""Asking archives for their history of seeds."""
