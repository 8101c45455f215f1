"""Exchanges are written by a process of their own; room on the disk."""
