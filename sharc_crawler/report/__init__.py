"""Reports of captures: JSON, HTML and words for the terminal, made from stored facts."""
