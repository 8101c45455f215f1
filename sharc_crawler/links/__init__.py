"""Extract what documents refer to: links, embedded resources, sitemap entries, robots.txt rules."""
