from urllib.parse import urlsplit

import scrapy


class PagesSpider(scrapy.Spider):
    """Follows links on one host and yields an item per page."""

    name = "pages"

    def __init__(self, start="http://127.0.0.1:8000/", most="40", **kwargs):
        super().__init__(**kwargs)
        self.start_url = start
        self.most = int(most)
        self.seen = 0

    async def start(self):
        yield scrapy.Request(self.start_url, meta={"depth_of_mine": 0}, errback=self.failed)

    def parse(self, response, **kwargs):
        self.seen += 1
        depth = response.meta["depth_of_mine"]
        yield {
            "url": response.url,
            "title": response.css("title::text").get(),
            "depth": depth,
            "found_on": kwargs.get("found_on"),
        }
        if not isinstance(response, scrapy.http.HtmlResponse) or self.seen >= self.most:
            return
        for link in response.css("a::attr(href)").getall():
            request = response.follow(
                link,
                callback=self.parse,
                errback=self.failed,
                meta={"depth_of_mine": depth + 1},
                cb_kwargs={"found_on": response.url},
            )
            if urlsplit(request.url).netloc == urlsplit(self.start_url).netloc:
                yield request

    def failed(self, failure):
        yield {"url": failure.request.url, "error": failure.type.__name__}
