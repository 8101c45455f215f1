"""Spiders of ours."""
