"""How often pages change: sitemap hints, history, estimators, predictor."""
