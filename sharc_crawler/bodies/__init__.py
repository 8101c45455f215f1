"""Bodies of answers: codings undone, large ones on disk, what is text, HTML bounded and parsed once."""
