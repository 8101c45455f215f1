"""| Bytes on the wire, and which addresses a crawl may connect to."""
