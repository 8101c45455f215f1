"""| Writing exchanges, in a process of its own; room on the disk."""
