"""Keep frontier state and observations on disk, in SQLite."""
