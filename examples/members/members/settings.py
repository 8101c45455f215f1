"""A project as Scrapy makes it; what it needs of sharc-crawler is chosen on the command line."""

SPIDER_MODULES = ["members.spiders"]
ITEM_PIPELINES = {"members.pipelines.WriteAtOnce": 300}
ITEMS = "items.jsonl"
TELNETCONSOLE_ENABLED = False
