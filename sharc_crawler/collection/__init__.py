"""| The folder in which an archive keeps its sites: their terms, captures, history and masks."""
