"""``scrapy`` commands of ours (setting ``COMMANDS_MODULE``)."""
