"""Rates of pages that nobody has watched, told from pages that were: features, bins, two classifiers, model files."""
