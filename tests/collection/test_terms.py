"""collection.yaml: what can stand in it, and what is told of what cannot."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import pytest

from sharc_crawler.collection.crawl_arguments import followed
from sharc_crawler.collection.terms import FILE, OF_CAPTURES, first_terms, parse_terms, read_terms
from sharc_crawler.errors import DataError, SharcError, UsageError

WHOLE = """
title: News of a city
settings: {SHARC_OPERATOR: crawls@library.example}
defaults: {delay: 2, sitemap: off}
sites:
- https://www.a.example/
- url: [https://b.example/, https://b.example/news/]
  name: b
  delay: 5
  exclude: '[?&]print='
"""


def test_each_site_has_the_defaults_and_its_own():
    terms = parse_terms(WHOLE)
    a, b = terms.sites
    assert (a.name, a.site, a.urls, a.arguments) == (
        "a.example",
        "a.example",
        ("https://www.a.example/",),
        {"delay": "2", "sitemap": "off"},
    )
    assert (b.name, b.site, len(b.urls)) == ("b", "b.example", 2)
    assert b.arguments == {"delay": "5", "sitemap": "off", "exclude": "[?&]print="}
    assert terms.settings == {"SHARC_OPERATOR": "crawls@library.example"}


def test_a_site_is_found_by_name_and_url_and_a_new_one_has_the_defaults():
    terms = parse_terms(WHOLE)
    assert {terms.named(text).name for text in ("b", "b.example", "https://b.example/", "https://www.b.example")} == {
        "b"
    }
    assert terms.of_urls(("https://b.example/elsewhere",)).name == "b"
    new = terms.of_urls(("https://c.example/",))
    assert (new.name, new.arguments["delay"]) == ("c.example", "2")
    with pytest.raises(UsageError, match=r"site='a.exmple' is not in the collection; did you mean 'a.example'"):
        terms.named("a.exmple")


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("sits: []", "sits is not known; did you mean 'sites'"),
        ("sites: [{url: https://a.example/, stratgy: bfs}]", r"sites\[1\].stratgy is not known; did you mean 'str"),
        ("sites: [{url: https://a.example/, output: x}]", r"sites\[1\].output is not known"),
        ("sites: [{url: https://a.example/, delay: soon}]", r"sites\[1\]: delay='soon' is no duration"),
        ("sites: [{url: https://a.example/, strategy: bsf}]", r"sites\[1\]: strategy='bsf'.* did you mean 'bfs'"),
        ("sites: [{name: a}]", r"sites\[1\] has no url"),
        ("sites: [{url: https://a.example/, name: ../a}]", r"sites\[1\].name='../a' is no name of a folder"),
        ("sites: [{url: [https://a.example/, https://b.example/]}]", r"sites\[1\].url names 2 sites"),
        ("sites: [https://a.example/, https://www.a.example/]", "two sites have the name 'a.example'"),
        ("sites: https://a.example/", "sites must be a list"),
        ("defaults: {name: x}", "defaults.name is not known"),
        ("defaults: 3", "defaults must be names with values"),
        (
            "settings: {SHARC_OPERATR: x}",
            "settings: SHARC_OPERATR is no setting.* 'SHARC_OPERATOR'",
        ),
        ("settings: {LOG_LEVEL: x}", "settings.LOG_LEVEL cannot be given here: only settings named SHARC_"),
        ("keep: {dayly: 9d}", "keep.dayly is not known; did you mean 'daily'"),
        ("keep: {daily: 90}", "keep.daily='90' has no unit; write it as 90d"),
        ("keep: {daily: long}", "keep.daily='long' is no duration"),
        ("budget: much", "budget='much' must be a whole number"),
        ("sites: [{url: https://a.example/, every: auto, collection: x}]", "collection is not known"),
        ("sites: [{url: https://a.example/, every: 1}]", "every='1' has no unit; write it as 1d .days., 1h, 1m or 1s"),
        ("title: [a]", "title must be one value"),
        ("- a", "must be names with values"),
        ("", r"collection.yaml is empty: name its sites in it, as 'sites: \["),
        ("# nothing yet", "collection.yaml is empty"),
        ("defaults: {masks: mine.json}", "defaults.masks='mine.json' is neither auto nor off; masks of your own"),
    ],
)
def test_what_cannot_be_used_is_named_with_its_place(text, error):
    with pytest.raises(UsageError, match=error):
        parse_terms(text)


@pytest.mark.parametrize("text", ["sites: [", "a: 1\na: 2", "sites: &x [*y]", "\x00", "? [a]\n: b", "[" * 1000])
def test_what_is_no_yaml_is_said_to_be_none(text):
    with pytest.raises(DataError, match=r"collection.yaml is no YAML"):
        parse_terms(text)


def test_a_folder_without_the_file_is_no_collection(tmp_path):
    with pytest.raises(
        UsageError, match=r"is no collection: it has no .*`sharc start` begins one; `sharc collection add"
    ):
        read_terms(tmp_path)
    (tmp_path / FILE).write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UsageError, match=f"It lies in the collection {tmp_path}"):
        read_terms(tmp_path / "captures")
    with pytest.raises(SharcError, match="is not UTF-8"):
        read_terms(tmp_path)


def test_a_collection_of_somebody_else_that_cannot_be_read_is_told_of():
    kept = Path(tempfile.mkdtemp())  # everybody may come here
    (kept / "collection.yaml").write_text("sites: [https://a.example/]")
    kept.chmod(0)
    root = os.geteuid() == 0
    try:
        if root:
            os.seteuid(65_534)
        with pytest.raises(UsageError, match=r"collection=.* cannot be read \(Permission denied\)"):
            followed({"collection": str(kept), "url": "https://a.example/"}, 0.0)
    finally:
        if root:
            os.seteuid(0)
        kept.chmod(0o700)
        shutil.rmtree(kept)


def test_a_new_file_says_what_it_was_made_of():
    site = parse_terms(WHOLE).sites[1]
    (again,) = parse_terms(first_terms(site)).sites
    assert (again.site, again.urls, again.arguments) == (site.site, site.urls, site.arguments)


def test_a_capture_of_a_whole_site_has_these_arguments():
    assert {"strategy", "scope", "include", "delay", "max_requests", "dedup", "audit"} <= set(OF_CAPTURES)


def test_an_interval_is_named_by_its_words_or_units():
    days = {"daily": 1, "weekly": 7, "monthly": 30, "yearly": 365, "52w": 364, "1y": 365, "2d": 2, "12m": 1 / 120}
    sites = "".join(f"- {{url: 'https://s{n}.example/', every: {text}}}\n" for n, text in enumerate(days))
    found = parse_terms(f"sites:\n{sites}").sites
    assert [site.every for site in found] == [86_400 * number for number in days.values()]
