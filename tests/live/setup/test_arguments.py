"""Arguments are checked before anything happens; each error names the argument, its value and the way out."""

from __future__ import annotations

from pathlib import Path

import pytest

from sharc_crawler.errors import UsageError
from sharc_crawler.live.setup.arguments import Arguments
from sharc_crawler.options.table import Options


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        ({"url": "http://127.0.0.1:9/", "strategy": "sharc-selectiv"}, "did you mean 'sharc-selective'"),
        ({"url": "http://127.0.0.1:9/", "strategie": "bfs"}, "did you mean 'strategy'"),
        ({"url": "http://127.0.0.1:9/", "strategy": "bfs:revisits=sometimes"}, "fifo, lifo, none"),
        ({"seeds": "nowhere.txt"}, "seeds='nowhere.txt' cannot be read"),
        ({"url": "htp:/example"}, "is not an http(s) URL"),
        ({"url": "http://me:secret@example.org"}, "or has a user or password"),
        ({"url": "http://exa mple.org:99999/"}, "is not an http(s) URL"),
        (
            {"url": "localhost:8000/a"},
            "says neither http nor https; write http://localhost:8000/a or https://localhost",
        ),
        ({}, "nothing to capture"),
        ({"url": "http://127.0.0.1:9/", "limit": "many"}, "limit='many' must be a whole number"),
        ({"url": "http://127.0.0.1:9/", "max_requests": "many"}, "max_requests='many' must be a whole number"),
        ({"url": "http://127.0.0.1:9/", "max_bytes": "1 Gallon"}, "write it as 500k, 500M or 20G"),
        ({"url": "http://127.0.0.1:9/", "max_time": "soon"}, "max_time='soon' is no duration"),
        ({"url": "http://127.0.0.1:9/", "delay": "-1"}, "delay='-1' is no duration"),
        ({"url": "http://127.0.0.1:9/", "scope": "page"}, "Allowed: domain, host, prefix"),
        ({"url": "http://127.0.0.1:9/", "include": "("}, "include='(' is not a regular expression"),
        ({"url": "http://127.0.0.1:9/", "sitemap": "maybe"}, "none of auto, off or a URL"),
    ],
)
def test_what_cannot_be_used_is_named(arguments, says):
    with pytest.raises(UsageError) as caught:
        Arguments.parse(arguments)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("url", "urls"),
    [
        ("example.org", ("https://example.org",)),
        ("localhost/a", ("https://localhost/a",)),
        ("http://a.org/,http://b.org/", ("http://a.org/", "http://b.org/")),
        ("http://a.org/x,y?q=1,2 b.org", ("http://a.org/x,y?q=1,2", "https://b.org")),
    ],
)
def test_one_url_or_several(url, urls):
    assert Arguments.parse({"url": url}).urls == urls


def test_seeds_are_read_line_by_line_and_a_bad_line_is_named(tmp_path):
    seeds = tmp_path / "seeds.txt"
    seeds.write_text("\ufeff# comment\nhttp://a.org/#top\n\n  b.org\nhttp://a.org/#top\n", "utf-8")
    arguments = Arguments.parse({"seeds": str(seeds)})
    assert arguments.urls == ("http://a.org/#top", "https://b.org")
    assert arguments.options.url == ()
    seeds.write_text("http://a.org/\nnot a url\n")
    with pytest.raises(UsageError, match="line 2"):
        Arguments.parse({"seeds": str(seeds)})
    seeds.write_text("http://a.org/ # ours\nhttp://b.org/x#y\t# \n")
    assert Arguments.parse({"seeds": str(seeds)}).urls == ("http://a.org/", "http://b.org/x#y")
    for separator in (",", "\t", ", ", " ; "):
        seeds.write_text(f"http://a.org/{separator}HTTP://b.org/")
        with pytest.raises(UsageError, match=r"line 1 .*, which is more than one URL; write one a line"):
            Arguments.parse({"seeds": str(seeds)})
    seeds.write_bytes("http://a.org/".encode("utf-16"))
    with pytest.raises(UsageError, match="; save it as UTF-8"):
        Arguments.parse({"seeds": str(seeds)})
    seeds.write_text("# nothing\n")
    with pytest.raises(UsageError, match="holds no URL"):
        Arguments.parse({"seeds": str(seeds)})


def test_an_order_has_what_an_argument_says_and_else_what_a_setting_says():
    """By name: who adds an option that an order has, too, hands it over nowhere."""
    arguments = Arguments.parse({"url": "https://a.example", "limit": "7", "lag": "2h", "max_requests": "30"})
    (spec,) = arguments.specs("bfs", {}, Options(size=40, max_requests=50, max_time=60.0, page_resources=9))
    assert (spec.limit, spec.lag, spec.max_requests) == (7, 7200.0, 30)
    assert (spec.size, spec.max_time, spec.page_resources) == (40, 60.0, 9)


def test_seeds_of_one_site_are_one_capture():
    arguments = Arguments.parse({"url": "http://a.org/x http://www.a.org/y http://b.org/", "limit": "5"})
    specs = arguments.specs("bfs", {}, Options())
    assert [(spec.site, len(spec.seeds), spec.limit) for spec in specs] == [("a.org", 2, 5), ("b.org", 1, 5)]


@pytest.mark.parametrize(
    ("strategy", "more", "says"),
    [
        ("sharc-attested", {"collection": ""}, "skip='attested' refers to former captures"),
        ("bfs", {}, "which strategy='bfs' does not: give strategy=sharc-attested"),
        ("sharc-attested", {"browser": "auto"}, "takes former answers, which browser='auto' does not"),
        ("sharc-attested", {"cookies": "jar.txt"}, "takes former answers, which cookies='jar.txt' does not"),
    ],
)
def test_pages_are_skipped_only_where_former_answers_stand(strategy, more, says, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("jar.txt").write_text("127.0.0.1\tFALSE\t/\tFALSE\t0\tname\tvalue\n")
    given = {"url": "http://127.0.0.1:9/", "skip": "attested", "collection": "kept", **more}
    arguments = Arguments.parse({name: value for name, value in given.items() if value})
    with pytest.raises(UsageError) as caught:
        arguments.specs(strategy, {}, Options())
    assert says in str(caught.value)


def test_budgets_are_read_with_their_units():
    given = {"url": "http://127.0.0.1:9/", "max_requests": "500", "max_bytes": "1.5G", "max_time": "8h"}
    assert Arguments.parse(given).options.bounds == {"max_requests": 500, "max_bytes": 1.5e9, "max_time": 28_800}
