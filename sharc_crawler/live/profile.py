"""Settings of a capture project: ``SCRAPY_SETTINGS_MODULE=sharc_crawler.live.profile scrapy crawl site -a url=…``.

One line installs everything; the others are good manners. This is the first of our modules that Scrapy loads, so it
also sees to Ctrl-C while the rest loads, which takes seconds.
"""

import sys

from sharc_crawler.interrupted import end_quietly

end_quietly("sharc: stopped before it began; give the same command again", 5)
if sys.stderr is None:  # Scrapy's log needs one
    from sharc_crawler.live.failures.output_streams import unfailing

    unfailing()

BOT_NAME = "sharc-crawler"
SPIDER_MODULES = ["sharc_crawler.live.spiders"]
COMMANDS_MODULE = "sharc_crawler.live.commands"
ADDONS = {"sharc_crawler.live.addon.SharcAddon": 500}

SHARC_STRATEGY = "sharc-selective"

USER_AGENT = "sharc-crawler (+https://pypi.org/project/sharc-crawler/)"  # SHARC_OPERATOR puts your contact here
DOWNLOAD_DELAY = 1.0
DOWNLOAD_TIMEOUT = 60
DOWNLOAD_MAXSIZE = 256 * 1024 * 1024
COOKIES_ENABLED = False
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False
LOG_LEVEL = "WARNING"
