"""Follows a gallery's rooms, and keeps each picture with its page."""

from scrapy.linkextractors import LinkExtractor
from scrapy.spiders import CrawlSpider, Rule


class GallerySpider(CrawlSpider):
    name = "gallery"
    rules = (
        Rule(LinkExtractor(allow="/room/")),
        Rule(LinkExtractor(allow="/picture/"), callback="picture", cb_kwargs={"kind": "picture"}),
    )

    @classmethod
    def from_crawler(cls, crawler, *args, **kwargs):
        spider = super().from_crawler(crawler, *args, **kwargs)
        spider.start_urls = [spider.url]
        return spider

    def picture(self, response, kind):
        yield {
            "kind": kind,
            "title": response.css("h1::text").get(),
            "image_urls": [response.urljoin(response.css("img::attr(src)").get())],
        }
