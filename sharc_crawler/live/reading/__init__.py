"""Documents are read by processes of their own; what bodies take of the memory."""
