"""What tells pages that a site makes without end from true ones: the frontier asks :mod:`.rules`, it asks the rest."""
