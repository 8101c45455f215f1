"""What goes wrong in a crawl: how it is said, what goes on all the same, and how a crawl ends that cannot."""
