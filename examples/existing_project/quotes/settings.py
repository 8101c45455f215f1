BOT_NAME = "quotes"
SPIDER_MODULES = ["quotes.spiders"]
ITEM_PIPELINES = {"quotes.pipelines.Numbered": 300}
ROBOTSTXT_OBEY = True
DOWNLOAD_DELAY = 0.02
TELNETCONSOLE_ENABLED = False

ADDONS = {"sharc_crawler.live.addon.SharcAddon": 500}

SHARC_STRATEGY = "sharc-selective"
SHARC_ALLOWED_ADDRESSES = ["127.0.0.0/8"]  # the demo site is on loopback
