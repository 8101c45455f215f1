"""| ``scrapy crawl`` outside of a project: says what is missing. In a project it is Scrapy's own command."""

from scrapy.utils.project import inside_project

if inside_project():
    from scrapy.commands.crawl import Command
else:
    from sharc_crawler.live.without_project import NoProjectCommand as Command

__all__ = ["Command"]
