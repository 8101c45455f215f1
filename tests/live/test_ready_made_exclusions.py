"""The expressions that docs/arguments.md offers: traps are left, pages are not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sharc_crawler.frontier.scope import Scope
from sharc_crawler.software import KNOWN
from sharc_crawler.urls import canonical

TEXT = (Path(__file__).parents[2] / "docs" / "arguments.md").read_text()
OFFERED = re.findall(r"^-a exclude='(.+)'$", TEXT, re.MULTILINE)
WIKI, BLOG, DOKU, TRAC, FOLDERS, CADDY, CGIT, GITWEB, HGWEB = OFFERED
SHA = "04b0ee2ccbbd9e442aa2b57b0fa648bd07584a73"

WIKI_PAGES = """
/wiki/Main_Page /wiki/AC/DC /wiki/C%2B%2B /wiki/Action_(physics)?x=1 /wiki/Specialty /wiki/Talk:Special_relativity
/w/index.php?title=Main_Page /wiki/File:Photo.jpg /wiki/Category:Birds /wiki/Feed /wiki/Oldid /index.php/Main_Page
/wiki/Category:Birds?pagefrom=M /wiki/Help:Special_pages /wiki/Special:AllPages?from=M
"""
WIKI_TRAPS = """
/index.php?title=A&action=edit /index.php?title=A&action=history /index.php?title=A&diff=prev&oldid=7
/index.php?title=A&oldid=7 /index.php?title=A&printable=yes /index.php?title=Red&action=edit&redlink=1
/wiki/Special:Random /wiki/Special:RecentChanges /index.php?title=Special:UserLogin&returnto=A
/w/index.php?title=Special%3ASearch&search=x /wiki/A?veaction=edit /wiki/A?action=raw /index.php?curid=5
/w/api.php /w/api.php?action=block&user=192.0.2.5&expiry=3+days&token=123ABC /w/api.php?format=json&meta=siteinfo
/wiki/Special:WhatLinksHere/A /index.php?feed=atom&title=Special:RecentChanges /wiki/A?useskin=vector
"""
BLOG_PAGES = """
/ /post-1/ /2026/11/22/hello-world/ /tag/a/ /tag/b/page/2/ /category/news/ /author/me/ /?p=7 /?page_id=2 /feeding-birds/
/wp-content/uploads/2026/a.pdf /embedded-systems/ /shop/product/x/ /page/3/ /news-feed-history/ /wp-jsonschema/ /?cat=3
"""
BLOG_TRAPS = """
/wp-login.php /wp-login.php?redirect_to=x /wp-admin/ /wp-admin/post.php?post=1 /wp-json/ /wp-json/wp/v2/posts/1
/xmlrpc.php?rsd /feed/ /comments/feed/ /post-1/feed/ /post-1/feed /post-1/embed/ /post-1/trackback/ /?s=word
/post-1/?share=twitter /post-1/?like_comment=5&_wpnonce=1 /?preview=true&p=7 /?feed=rss2 /shop/?add-to-cart=5
/?rest_route=/oembed
"""
DOKU_PAGES = """
/ /start /wiki/syntax /archive/castle3 /doku.php?id=wiki:syntax /doku.php /_media/pics/p1.png /_detail/p.png?id=start
/lib/exe/fetch.php?media=pics:p1.png /do /rev /feed /docs/idx
"""
DOKU_TRAPS = """
/start?do=edit /start?do=edit&rev=5 /start?idx=archive
/start?do=media&image=p.png&ns=pics&tab_details=view&tab_files=files
/doku.php?id=start&do=revisions /start?rev=1700000000 /start?do=diff&rev2[0]=17&rev2[1]=current&difftype=sidebyside
/start?rev2%5B0%5D=17 /_export/xhtml/start /feed.php?mode=list&ns=archive /start?do=login&sectok=
"""
TRAC_PAGES = """
/ /about /wiki /wiki/TracGuide /wiki/search /ticket/7 /report /report/1 /report/1?page=2 /query?status=new /wiki/login
/milestone/milestone1 /timeline /changeset/3 /browser/trunk/a.py /raw-attachment/ticket/7/a.png /roadmap /trac/searching
"""
TRAC_TRAPS = """
/report/1?asc=1&sort=ticket /report/6?USER=anonymous&format=csv&sort=component /ticket/7?format=rss /wiki/A?version=1
/query?order=priority&status=new /query?desc=1&format=csv&order=status&status=new
/timeline?authors=&daysback=30&from=2026-10-28
/timeline?from=2026-11-28T00%3A18%3A17Z&precision=second
/login /trac/login /prefs/advanced /newticket /search
/search?q=a /changeset?new=3&old=1 /changeset?new_path=tags%2Fa&old_path=tags%2Fb /wiki/A?action=diff&version=2
/admin/general/plugin
"""
CADDY_PAGES = "/pub/ /pub/a.html?sort=name /pub/?order=asc /shop/?order=new&sort=price /pub/?order=asc&sort=names"
CADDY_TRAPS = "/pub/?order=asc&sort=name /pub/?sort=namedirfirst&order=desc /pub/?layout=grid&order=asc&sort=time"
FOLDER_PAGES = "/pub/ /pub/a.html?C=1 /pub/?O=A /pub/?c=x;o=y"
FOLDER_TRAPS = "/pub/?C=N;O=D /pub/?C=M;O=A /pub/?C=S&O=A /pub/?C=D;O=D"
CGIT_PAGES = f"""
/ /proj/ /proj/log/ /proj/log/?ofs=50 /proj/log/?h=feature /proj/refs/ /proj/tag/?h=v1
/proj/commit/ /proj/commit/?id={SHA} /proj/commit/?h=feature /proj/tree/ /proj/about/
/proj/tree/src/diff/a.py /proj/plain/blame/a.png /pub/group/proj.git/tree/log/a /proj/stats/ /about/
"""
CGIT_TRAPS = f"""
/?s=idle /?q=x /proj/tree/?id={SHA} /proj/tree/src/a.py?h=feature /proj/tree/src?h=feature&id={SHA} /proj/?h=feature
/proj/plain/a.py?id={SHA} /proj/blame/a.py /proj/diff/ /proj/diff/a.py?id={SHA}&id2={SHA} /proj/patch/?id={SHA}
/proj/snapshot/proj-1.zip /proj/log/a.py /proj/log/?id={SHA} /proj/log/?showmsg=1 /proj/commit/a.py?id={SHA}
/proj/commit/?id={SHA}&ss=1 /proj/refs/?id={SHA} /proj/atom/?h=master /pub/group/proj.git/rawdiff/?id={SHA}
/proj/stats/?period=y /proj/commit/?h=v1&id={SHA} /proj/log/?h=v1&ofs=50
"""
GITWEB_PAGES = f"""
/gitweb.cgi /gitweb.cgi?p=a.git;a=summary /?p=a.git;a=shortlog /?p=a.git;a=shortlog;pg=1 /?p=a.git;a=tree /?p=a.git
/?p=a.git;a=shortlog;h=refs/heads/x;pg=2 /?p=a.git;a=commit;h={SHA} /?p=a.git;a=heads /?p=a.git;a=tags
/?p=a.git;a=tag;h={SHA} /?p=a.git;a=tree;f=src;h={SHA};hb=HEAD /?p=a.git;a=blob;f=src/log/a.c;h={SHA};hb=HEAD
/?p=a.git;a=blob_plain;f=a.png;hb=HEAD
"""
GITWEB_TRAPS = f"""
/?o=age /?a=opml /?a=project_index /?p=a.git;a=log /?p=a.git;a=log;h=refs/heads/x /?p=a.git;a=shortlog;h={SHA}
/?p=a.git;a=commitdiff;h={SHA} /?p=a.git;a=commitdiff_plain;h={SHA} /?p=a.git;a=patch;h={SHA} /?p=a.git;a=rss
/?p=a.git;a=shortlog;h=refs/tags/1 /?p=a.git;a=blob;f=a.c;h={SHA};hb={SHA} /?p=a.git;a=tree;h={SHA};hb={SHA}
/?p=a.git;a=tree;h=refs/tags/1;hb=refs/tags/1
/?p=a.git;a=blame;f=a.c;h={SHA};hb=HEAD /?p=a.git;a=history;f=a.c;h={SHA};hb=HEAD /?p=a.git;a=search;s=me;st=author
/?p=a.git;a=snapshot;h={SHA};sf=zip /?p=a.git;a=blobdiff;f=a.c;h={SHA};hp={SHA};hb={SHA};hpb={SHA} /?a=project_list;pf=a
"""
HGWEB_PAGES = """
/ /shortlog/tip /shortlog/04b0ee2ccbbd /rev/04b0ee2ccbbd /rev/tip /file/tip /file/tip/src/diff/a.c /raw-file/tip/a.png
/repo/file/tip/annotate/a /tags /branches /bookmarks
"""
HGWEB_TRAPS = """
/shortlog/tip?revcount=120 /rev/04b0ee2ccbbd?revcount=4 /tags?revcount=2 /file/04b0ee2ccbbd /file/04b0ee2ccbbd/src/a.c
/file/default/a.c /raw-file/04b0ee2ccbbd/a.c /annotate/tip/a.c /diff/tip/a.c /comparison/04b0ee2ccbbd/a.c /graph/tip
/log/tip/a.c /help /help/revsets
/raw-rev/04b0ee2ccbbd /archive/tip.zip /atom-log /rss-log /atom-log/tip/a.c /log?rev=me /repo/diff/tip/a.c
"""


@pytest.mark.parametrize(
    ("expression", "pages", "traps"),
    [
        (WIKI, WIKI_PAGES, WIKI_TRAPS),
        (BLOG, BLOG_PAGES, BLOG_TRAPS),
        (DOKU, DOKU_PAGES, DOKU_TRAPS),
        (TRAC, TRAC_PAGES, TRAC_TRAPS),
        (FOLDERS, FOLDER_PAGES, FOLDER_TRAPS),
        (CADDY, CADDY_PAGES, CADDY_TRAPS),
        (CGIT, CGIT_PAGES, CGIT_TRAPS),
        (GITWEB, GITWEB_PAGES, GITWEB_TRAPS),
        (HGWEB, HGWEB_PAGES, HGWEB_TRAPS),
    ],
)
def test_traps_are_left_and_pages_are_not(expression, pages, traps):
    root = "http://site.example"
    scope = Scope([f"{root}/seed"], exclude=[expression])
    assert [path for path in pages.split() if scope.why_not(canonical(root + path))] == []
    assert [path for path in traps.split() if not scope.why_not(canonical(root + path))] == []


def test_what_is_offered_is_what_a_crawl_knows():
    assert [one.exclude for one in KNOWN] == OFFERED


@pytest.mark.parametrize("piece", [";a=tree", ";a=shortlog", "&h=", "/log/?", "/tree", "/file"])
def test_long_addresses_are_looked_at_in_linear_time(piece):
    """Minutes where it is quadratic."""
    made = f"http://h/?x{piece * 100_000}"
    assert [one.name for one in KNOWN if re.search(one.exclude, made)] == []


def test_a_reply_form_is_the_post_itself():
    assert canonical("http://h/post/?replytocom=12#respond") == canonical("http://h/post/")
