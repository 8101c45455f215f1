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
APACHE = [f"pub/{number}/?C={column};O=A" for number in range(4) for column in "NMSD"]
SHA = "04b0ee2ccbbd9e442aa2b57b0fa648bd07584a73"
CGIT = [
    f"proj/tree/src/a.py?id={SHA}", f"proj/blame/a.py?h=feature&id={SHA}", f"proj/diff/a.py?id={SHA}&id2={SHA}",
    "proj/log/a.py?showmsg=1", f"proj/commit/?id={SHA}", "proj/tree/src/a.py",
]  # fmt: skip
GITWEB = [
    f"gitweb.cgi?p=a.git;a=commitdiff;h={SHA}", f"?p=a.git;a=blob;f=b.c;h={SHA};hb={SHA}", "?p=a.git;a=rss",
    f"?p=a.git;a=search;h={SHA};s=me;st=author", f"?p=a.git;a=commit;h={SHA}", "?p=a.git;a=summary",
]  # fmt: skip
HGWEB = [
    "log/04b0ee2ccbbd/a.txt?revcount=120", "annotate/04b0ee2ccbbd/a.txt", "raw-file/04b0ee2ccbbd/a.txt",
    "rev/04b0ee2ccbbd?revcount=4", "rev/04b0ee2ccbbd", "file/tip/a.txt",
]  # fmt: skip
OTHERS = [
    [f"index.php?action=show&id={number}" for number in range(9)],  # pages of its own, of nobody we know
    [f"shop/?order=new&sort=price&page={number}" for number in range(9)],
    [f"topic/{number}?rev=1&format=full" for number in range(9)],
    [f"news/{number}/feed/" for number in range(9)],
    [f"diff/{number}?id={number}" for number in range(9)] + ["log/2026/a", "file/7", "?p=7&a=tree", "annotate/deed"],
    [f"wiki/Page_{number}" for number in range(99)] + WIKI,  # few
    [],
]


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("MediaWiki", WIKI),
        ("Trac", TRAC),
        ("WordPress", BLOG),
        ("DokuWiki", DOKU),
        ("Apache's list of a folder", APACHE),
        ("Caddy's list of a folder", CADDY),
        ("cgit", CGIT),
        ("gitweb", GITWEB),
        ("Mercurial's hgweb", HGWEB),
    ],
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
