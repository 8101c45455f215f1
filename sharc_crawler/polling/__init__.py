"""When hubs are asked for something new: what an instant crawl learns of them, and how it spends its requests."""
