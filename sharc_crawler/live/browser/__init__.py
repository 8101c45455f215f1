"""Pages made by script: rendered in a Chromium that loads nothing itself; the crawl fetches whatever it asks for."""
