"""Pictures and HTML from stored facts."""
