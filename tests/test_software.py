"""Which software makes addresses beside its content: on addresses as real sites have them, and others' as well."""

from __future__ import annotations

import pytest

from sharc_crawler.software import KNOWN, named, of_note, recognised, told

WIKI = [
    "w/index.php?action=history&title=A", "w/index.php?oldid=7&title=A", "w/index.php/Special:WhatLinksHere/A",
    "w/index.php?action=edit&title=A", "w/api.php?action=block&user=192.0.2.5", "w/index.php/B",
]  # fmt: skip
TRAC = [
    "report/1?asc=1&format=csv&sort=ticket", "query?desc=1&order=status&status=new", "ticket/7?format=rss",
    "wiki/A?version=1", "wiki/A", "ticket/7",
]  # fmt: skip
BLOG = ["post-1/feed/", "wp-login.php", "post-1/?share=x", "?s=a", "wp-json/wp/v2/posts/1", "post-1/"]
DOKU = ["start?do=edit", "start?do=revisions", "start?rev=17", "start?idx=a", "start", "doku.php?id=b"]
CADDY = [f"pub/{number}/?order={order}&sort=name" for number in range(4) for order in ("asc", "desc")]
OTHERS = [
    [f"index.php?action=show&id={number}" for number in range(9)],  # pages of its own, of nobody we know
    [f"shop/?order=new&sort=price&page={number}" for number in range(9)],
    [f"topic/{number}?rev=1&format=full" for number in range(9)],
    [f"news/{number}/feed/" for number in range(9)],
    [f"wiki/Page_{number}" for number in range(99)] + WIKI,  # few
    [],
]


@pytest.mark.parametrize(
    ("name", "paths"),
    [("MediaWiki", WIKI), ("Trac", TRAC), ("WordPress", BLOG), ("DokuWiki", DOKU), ("Caddy's list of a folder", CADDY)],
)
def test_software_is_recognised_by_what_it_makes(name, paths):
    software, own = recognised([f"http://h/{path}" for path in paths])
    assert software.name == name
    assert len(own) >= 4
    assert of_note(told(software, 4, 6)) is software


@pytest.mark.parametrize("paths", OTHERS)
def test_what_others_make_is_nobodys(paths):
    assert recognised([f"http://h/{path}" for path in paths]) is None


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("http://h/wp-sitemap-posts-post-1.xml", "WordPress"),
        ("http://h/sitemap/sitemap-wikidb-NS_0-0.xml.gz", "MediaWiki"),
        ("http://h/doku.php?id=start", "DokuWiki"),
        ("http://h/wiki/Main_Page", None),
    ],
)
def test_sitemaps_show_software_by_names(url, name):
    found = named(["http://h/", url])
    assert (found and found.name) == name
    assert len({one.name for one in KNOWN}) == len(KNOWN)
