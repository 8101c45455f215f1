"""Seeds of a crawl chosen by a ranker from archives' history, and judged afterwards."""
