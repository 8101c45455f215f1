"""| Watches a running crawl from outside, by what it writes in its folder."""
