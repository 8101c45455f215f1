"""URLs: canonical forms, known URLs, made-up URLs, and URLs that a site's software generates."""
