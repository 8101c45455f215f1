"""Evidence: what was compared, what it shows of a page, what may be claimed of a capture, and how sharp it is."""
