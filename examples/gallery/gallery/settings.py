"""A project as Scrapy makes it; what it needs of sharc-crawler is chosen on the command line."""

SPIDER_MODULES = ["gallery.spiders"]
ITEM_PIPELINES = {"scrapy.pipelines.images.ImagesPipeline": 1, "gallery.pipelines.WriteAtOnce": 300}
IMAGES_STORE = "images"
ITEMS = "items.jsonl"
ROBOTSTXT_OBEY = True
TELNETCONSOLE_ENABLED = False
