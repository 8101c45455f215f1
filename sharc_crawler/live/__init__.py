"""The only importer of Scrapy and Twisted: drives the frontier with real requests."""
