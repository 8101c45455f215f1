"""Which software makes addresses beside its content: on addresses as real sites have them, and others' as well."""

from __future__ import annotations

import pytest

from sharc_crawler.addresses.software import KNOWN, described, named, of_note, recognised

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
EVENTS = [
    "event/fair/?ical=1",
    "event/fair/?outlook-ical=1",
    "events/2026-11-03/?outlook-ical=1",
    "?ical=1",
    "event/fair/",
]
PHPBB = [
    "viewtopic.php?p=7", "viewtopic.php?f=2&t=7&view=print", "posting.php?mode=reply&t=7", "search.php?author_id=2",
    "viewtopic.php?f=2&t=7",
]  # fmt: skip
DISCOURSE = [
    *(f"t/a-topic/55/{number}" for number in range(2, 6)),
    "t/a-topic/55.rss",
    "t/a-topic/55/print",
    "t/a-topic/55",
]
PLONE = ["a/sendto_form", "a/@@historyview", "a/folder_contents", "a/object_copy?_authenticator=1", "a", "a/photo/view"]
DSPACE = [
    "browse?type=author&value=A", "discover?filter=A&filter_relational_operator=equals&filtertype=author",
    "discover?filter_0=A&filtertype_0=author", "browse?type=title&starts_with=A", "handle/1/2", "browse?type=title",
]  # fmt: skip
JOOMLA = [
    "index.php/news?format=feed&type=rss", "index.php/news/7-a?layout=default&print=1&tmpl=component", "news?start=0",
    "index.php/component/mailto/?link=0&tmpl=component", "index.php/component/users/reset?Itemid=1", "index.php/news",
]  # fmt: skip
OMEKA = [
    "items/browse?output=atom", "items/show/7?output=json", "items/browse?sort_dir=a&sort_field=added", "users/login",
    "items/show/7",
]  # fmt: skip
DRUPAL = [
    "library?f%5B0%5D=type%3Anews", "de/library?f%5B0%5D=author%3A7&f%5B1%5D=year%3A2021&page=1", "user/login",
    "members?order=name&page=2&sort=asc", "comment/reply/node/7/comment", "library?page=1",
]  # fmt: skip
VUFIND = [
    "vufind/Record/r7/Details?lng=de", "vufind/Record/r7/Export?style=RIS", "vufind/Record/r7/Cite",
    "vufind/Search/Results?filter%5B%5D=format%3A%22Book%22&lookfor=a", "Author/Home?author=A&sort=year", "Record/r7",
]  # fmt: skip
KOHA = [
    "cgi-bin/koha/opac-search.pl?idx=kw&limit=au%3AA&q=map", "cgi-bin/koha/opac-search.pl?q=map&sort_by=title_az",
    "cgi-bin/koha/opac-export.pl?bib=7&format=ris&op=export", "cgi-bin/koha/opac-reserve.pl?biblionumber=7",
    "cgi-bin/koha/opac-detail.pl?biblionumber=7", "cgi-bin/koha/opac-search.pl?idx=kw&offset=20&q=map",
]  # fmt: skip
REDMINE = [
    "issues?page=2&sort=id", "issues.pdf?sort=project%2Cid%3Adesc", "issues/7?tab=history", "wiki/A/1/annotate",
    "issues?query_id=1", "issues/7",
]  # fmt: skip
FOSSIL = [
    "timeline?advm=1&udc=1&y=f", "artifact/50a38323e5d3de17", "annotate?checkin=tip&filename=a.py", "help?cmd=add",
    "vinfo/50a38323e5d3de17?diff=1", "info/50a38323e5d3de17",
]  # fmt: skip
GITEA = [
    f"o/r/issues?assignee=0&labels={label}&milestone=0&poster=&project=0&q=&sort={order}&state=open&type=all"
    for label in (1, 2)
    for order in ("", "oldest", "latest")
]
VBULLETIN = ["showthread.php?p=7", "showpost.php?p=7&postcount=2", "newreply.php?do=newreply&p=7", "report.php?p=7"]
XENFORO = ["threads/a.7/post-33", "threads/a.7/post-34", "threads/a.7/latest", "posts/33/report", "threads/a.7/"]
MYBB = [
    "showthread.php?pid=33&tid=7", "newreply.php?replyto=33&tid=7", "misc.php?action=whoposted&tid=7",
    "printthread.php?tid=7", "showthread.php?tid=7",
]  # fmt: skip
SMF = [
    "index.php?topic=7.msg33", "index.php?topic=7.0%3Bprev_next%3Dnext", "index.php?action=printpage%3Btopic%3D7.0",
    "index.php?board=1.0%3Bsort%3Dviews", "index.php?topic=7.0",
]  # fmt: skip
MOIN = ["A?action=info", "A?action=diff&rev1=1", "A?action=LikePages", "A?action=AttachFile", "A?highlight=a", "A"]
EPRINTS = [
    "cgi/export/7/BibTeX/r-7.bib", "cgi/export/eprint/7/DC/r-7.txt", "7/1.hassmallThumbnailVersion/a.pdf",
    "view/year/2003.creators_name.html", "7/",
]  # fmt: skip
JOURNALS = [
    "j/citationstylelanguage/get/apa?submissionId=7", "j/citationstylelanguage/download/ris?submissionId=7",
    "j/user/setLocale/de_DE?source=a", "j/search?authors=A", "j/article/view/7",
]  # fmt: skip
MANTIS = ["print_bug_page.php?bug_id=7", "view_all_set.php?type=2", "bug_reminder_page.php?bug_id=7", "csv_export.php"]
SORTED = [f"db/{name}?_sort{desc}=name&q={q}" for name in "ab" for desc in ("", "_desc") for q in "xy"]
OTHERS = [
    [f"list?sort=price&page={number}" for number in range(9)],  # the one way to the list's end
    [f"info/{number}" for number in range(4)] + ["help/a", "raw/b", "tree/c"],
    [f"issues?state=all&sort=name&page={number}" for number in range(9)],
    [f"journal/issues?project={number}" for number in range(9)]
    + [f"articles/{number}?language=de" for number in range(9)],
    [f"issues/{number}?tab=contents" for number in range(9)]
    + [f"issues?sort=year&page={number}" for number in range(9)],
    [f"list?f%5B%5D={number}&sort=asc" for number in range(9)] + [f"Record/{number}/Details" for number in range(9)],
    [f"shop/?lng=de&sort=price&view=grid&page={number}" for number in range(9)],
    [f"search?q={number}" for number in range(9)] + [f"login?n={number}" for number in range(9)],
    [f"opac-search.pl?limit=10&q={number}" for number in range(4)] + [f"book/{number}" for number in range(9)],
    [f"shop/?output=list&sort_field=price&page={number}" for number in range(9)],
    [f"news?start=0&cat={number}&print=1" for number in range(9)],
    [f"posts/{number}/RSS" for number in range(9)],
    [f"topic.php?p={number}&view=print" for number in range(9)],
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
        ("WordPress", EVENTS),
        ("phpBB", PHPBB),
        ("Discourse", DISCOURSE),
        ("Plone", PLONE),
        ("DSpace", DSPACE),
        ("Joomla", JOOMLA),
        ("Omeka", OMEKA),
        ("Drupal", DRUPAL),
        ("VuFind", VUFIND),
        ("Koha", KOHA),
        ("Redmine", REDMINE),
        ("Fossil", FOSSIL),
        ("Gitea or Forgejo", GITEA),
        ("vBulletin", VBULLETIN),
        ("XenForo", XENFORO),
        ("MyBB", MYBB),
        ("Simple Machines Forum", SMF),
        ("MoinMoin", MOIN),
        ("EPrints", EPRINTS),
        ("Open Journal Systems", JOURNALS),
        ("MantisBT", MANTIS),
        ("Sorted lists", [f"issues?sort={order}&state={state}" for order in "abc" for state in "xy"]),
        ("Sorted lists", SORTED),
    ],
)
def test_software_is_recognised_by_what_it_makes(name, paths):
    software, own = recognised([f"http://h/{path}" for path in paths])
    assert software.name == name
    assert len(own) >= 4
    assert of_note(described(software, 4, 6)) is software


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
