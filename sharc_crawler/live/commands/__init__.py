"""``scrapy`` commands of ours (setting ``COMMANDS_MODULE``)."""

import sys

from sharc_crawler.errors import UsageError
from sharc_crawler.live.versions import require_scrapy

try:  # Scrapy imports all commands before it runs one, so report missing names here, in one line
    require_scrapy()
except UsageError as error:
    sys.exit(f"sharc: error: {error}")
