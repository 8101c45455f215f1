"""| What a crawl has from earlier runs and captures: its own state and files, the history, former captures."""
