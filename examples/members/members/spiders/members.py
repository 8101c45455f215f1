"""Logs in, pages through a list of members, and searches for each by a form."""

import scrapy


class MembersSpider(scrapy.Spider):
    name = "members"

    async def start(self):
        yield scrapy.Request(f"{self.url}login", callback=self.log_in)

    def log_in(self, response):
        known = {"user": "ann", "password": "correct horse"}
        return scrapy.FormRequest.from_response(response, formdata=known, callback=self.listed)

    def listed(self, response):
        page = int(response.css("h1::attr(data-page)").get())
        for link in response.css("a.member"):
            yield response.follow(link, callback=self.member, cb_kwargs={"page": page})
        if following := response.css("a.next"):
            yield response.follow(following[0], callback=self.listed)

    def member(self, response, page):
        name = response.css("h1::text").get()
        yield {"member": name, "page": page, "as": response.css(".you::text").get()}
        yield scrapy.FormRequest(
            f"{self.url}search",
            formdata={"q": name},
            callback=self.found,
            meta={"member": name, "seen": {"page": page, "at": (1, 2)}},
        )

    def found(self, response):
        yield {"searched": response.meta["member"], "seen": response.meta["seen"]["page"], **response.json()}
