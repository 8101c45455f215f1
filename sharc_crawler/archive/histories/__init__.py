"""Histories of captures: ask archives over HTTP, read files of any kind, gather captures in columns."""
