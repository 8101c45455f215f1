"""Estimators of change rates from histories, one per module; each estimates all pages in one call."""
