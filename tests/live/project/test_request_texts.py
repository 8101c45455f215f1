"""What of a request comes back as it was, and what is refused."""

from __future__ import annotations

import json

import pytest
import scrapy
from hypothesis import given
from hypothesis import strategies as st
from lxml import html
from scrapy.http.cookies import CookieJar

from sharc_crawler.live.project.request_texts import (
    UnkeepableError,
    cookies_text,
    kept,
    lacking_method,
    plain,
    restored,
    set_cookies,
)

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text() | st.binary(),
    lambda inner: (
        st.lists(inner)
        | st.tuples(inner, inner)
        | st.dictionaries(st.text().filter(lambda name: name[:1] != "!"), inner)
    ),
    max_leaves=10,
)


class Spider(scrapy.Spider):
    name = "spider"

    def parse(self, response):
        """A callback."""

    def failed(self, failure):
        """An errback."""


class Hooked(Spider):
    def keep_request(self, request):
        return {"number": request.meta["thing"].number} if "thing" in request.meta else None

    def restore_request(self, kept):
        return scrapy.Request("http://h.example/", self.parse, meta={"thing": Thing(kept["number"])})


class Thing:
    def __init__(self, number):
        self.number = number


@pytest.mark.slow
@given(meta=st.dictionaries(st.sampled_from("abc"), VALUES), arguments=st.dictionaries(st.sampled_from("xy"), VALUES))
def test_meta_and_arguments_come_back_as_they_were(meta, arguments):
    spider = Spider()
    request = scrapy.Request("http://h.example/", spider.parse, meta=meta, cb_kwargs=arguments)
    again = restored(kept(request, spider), spider)
    assert (again.meta, again.cb_kwargs) == (meta, arguments)
    assert json.dumps(plain(again.meta, "")) == json.dumps(plain(meta, "")), "types, too"


def test_a_method_that_was_renamed_is_named_with_a_request_that_waits_for_it():
    spider = Spider()
    request = scrapy.Request("http://h.example/a", spider.parse, errback=spider.failed)
    text, hopped = kept(request, spider), kept(request.replace(url="http://h.example/b", callback=None), spider)
    texts = {"cookies": "[]", "request h.example 0": json.dumps({"request": text}), "hop 3 0": hopped}
    assert lacking_method(texts, spider) == ""
    assert lacking_method(texts, scrapy.Spider("other")) == (
        "the spider 'other' has no method 'failed' any more, the errback of http://h.example/a"
    )
    assert "http://h.example/b" in lacking_method({"hop 3 0": hopped}, scrapy.Spider("other"))


def test_everything_else_of_a_request_comes_back():
    spider = Spider()
    request = scrapy.FormRequest(
        "http://h.example/ä?x=1",
        spider.parse,
        formdata={"a": "ü"},
        errback=spider.failed,
        headers={"X-One": ["1", b"\xff2"]},
        cookies=[{"name": "n", "value": "v", "secure": True}],
        priority=-3,
        dont_filter=True,
        flags=["f"],
        encoding="latin-1",
    )
    again = restored(kept(request, spider), spider)
    assert type(again) is scrapy.FormRequest
    assert again.to_dict(spider=spider) == request.to_dict(spider=spider)
    assert (again.callback, again.errback) == (spider.parse, spider.failed)


def test_texts_of_other_libraries_are_texts():
    text = html.fromstring("<a>hello</a>").xpath("//a/text()")[0]
    request = restored(kept(scrapy.Request("http://h.example/", meta={"link_text": text}), Spider()), Spider())
    assert request.meta["link_text"] == "hello"
    assert type(request.meta["link_text"]) is str


@pytest.mark.parametrize(
    ("request_", "reason"),
    [
        (scrapy.Request("http://h.example/", lambda response: None), "callback or errback is no method"),
        (scrapy.Request("http://h.example/", meta={"a": {"b": [Thing(1)]}}), r"meta\['a'\]\['b'\]\[0\] is a Thing"),
        (
            scrapy.Request("http://h.example/", cb_kwargs={"when": {1: 2}}),
            r"\['when'\] is a dict with keys that",
        ),
        (scrapy.Request("http://h.example/", meta={"s": {1}}), r"meta\['s'\] is a set"),
    ],
)
def test_what_cannot_come_back_is_named(request_, reason):
    with pytest.raises(UnkeepableError, match=reason):
        kept(request_, Spider())


def test_a_spider_may_know_better():
    spider = Hooked()
    odd = scrapy.Request("http://h.example/", meta={"thing": Thing(7)})
    again = restored(kept(odd, spider), spider)
    assert again.meta["thing"].number == 7
    assert again.callback == spider.parse
    assert restored(kept(scrapy.Request("http://h.example/1"), spider), spider).url == "http://h.example/1"


def test_cookies_come_back_into_their_jars():
    jars = {None: CookieJar(), "other": CookieJar()}
    request = scrapy.Request("http://h.example/")
    response = scrapy.http.Response(request.url, headers={"Set-Cookie": ["a=1; Path=/; HttpOnly", "b=2; Secure"]})
    jars[None].extract_cookies(response, request)
    again = {None: CookieJar(), "other": CookieJar()}
    set_cookies(cookies_text(jars), again)
    assert cookies_text(again) == cookies_text(jars)
    assert [cookie.value for cookie in again[None].jar] == ["1", "2"]
