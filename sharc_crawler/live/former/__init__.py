"""What a crawl has from before: its own state and files, the history, former captures."""
