"""The state of a capture: its order, all pages in columns, their life cycles, and the rows and port of its store."""
