"""A crawl that runs, as it is seen from outside: read from what it writes in its folder."""
