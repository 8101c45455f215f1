"""Predict rates of unwatched pages from watched ones: features, bins, two classifiers, model files."""
