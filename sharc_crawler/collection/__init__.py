"""The folder that an archive keeps: its sites and their terms, captures, history, masks."""
