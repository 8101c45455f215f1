"""What a fetched document names: links, embedded resources, sitemap entries."""
