"""The expressions that docs/arguments.md offers: traps are left, pages are not."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sharc_crawler.addresses.scope import Scope
from sharc_crawler.addresses.software import KNOWN
from sharc_crawler.addresses.urls import canonical

TEXT = (Path(__file__).parents[2] / "docs" / "arguments.md").read_text()
ORDERS, *OFFERED = re.findall(r"^-a exclude='(.+)'$", TEXT, re.MULTILINE)
WIKI, BLOG, DOKU, TRAC, FOLDERS, CADDY, CGIT, GITWEB, HGWEB = OFFERED[:9]
PHPBB, DISCOURSE, PLONE, DSPACE, JOOMLA, OMEKA, DRUPAL, VUFIND, KOHA, REDMINE, FOSSIL = OFFERED[9:20]
GITEA, VBULLETIN, XENFORO, MYBB, SMF, MOIN, EPRINTS, JOURNALS, MANTIS, SORTED = OFFERED[20:]
SHA = "04b0ee2ccbbd9e442aa2b57b0fa648bd07584a73"

WIKI_PAGES = """
/wiki/Main_Page /wiki/AC/DC /wiki/C%2B%2B /wiki/Action_(physics)?x=1 /wiki/Specialty /wiki/Talk:Special_relativity
/w/index.php?title=Main_Page /wiki/File:Photo.jpg /wiki/Category:Birds /wiki/Feed /wiki/Oldid /index.php/Main_Page
/wiki/Category:Birds?pagefrom=M /wiki/Help:Special_pages /wiki/Special:AllPages?from=M
/wiki/Spezial:Alle_Seiten /wiki/Especialidad /wiki/Sp%C3%A9cial:Toutes_les_pages /wiki/Hilfe:Spezialseiten
"""
WIKI_TRAPS = """
/index.php?title=A&action=edit /index.php?title=A&action=history /index.php?title=A&diff=prev&oldid=7
/index.php?title=A&oldid=7 /index.php?title=A&printable=yes /index.php?title=Red&action=edit&redlink=1
/wiki/Special:Random /wiki/Special:RecentChanges /index.php?title=Special:UserLogin&returnto=A
/w/index.php?title=Special%3ASearch&search=x /wiki/A?veaction=edit /wiki/A?action=raw /index.php?curid=5
/w/api.php /w/api.php?action=block&user=192.0.2.5&expiry=3+days&token=123ABC /w/api.php?format=json&meta=siteinfo
/wiki/Special:WhatLinksHere/A /index.php?feed=atom&title=Special:RecentChanges /wiki/A?useskin=vector
/wiki/Spezial:Linkliste/A /wiki/Sp%C3%A9cial:Pages_li%C3%A9es/A /wiki/Spezial:Letzte_%C3%84nderungen
/index.php?title=Speciaal:RecenteWijzigingen /wiki/%D0%A1%D0%BB%D1%83%D0%B6%D0%B5%D0%B1%D0%BD%D0%B0%D1%8F:Search
"""
BLOG_PAGES = """
/ /post-1/ /2026/11/22/hello-world/ /tag/a/ /tag/b/page/2/ /category/news/ /author/me/ /?p=7 /?page_id=2 /feeding-birds/
/events/list/?eventDisplay=past /events/month/2026-11/ /events/list/page/2/?eventDisplay=past /event/fair/ /icalendar/
/wp-content/uploads/2026/a.pdf /embedded-systems/ /shop/product/x/ /page/3/ /news-feed-history/ /wp-jsonschema/ /?cat=3
"""
BLOG_TRAPS = """
/wp-login.php /wp-login.php?redirect_to=x /wp-admin/ /wp-admin/post.php?post=1 /wp-json/ /wp-json/wp/v2/posts/1
/xmlrpc.php?rsd /feed/ /comments/feed/ /post-1/feed/ /post-1/feed /post-1/embed/ /post-1/trackback/ /?s=word
/post-1/?share=twitter /post-1/?like_comment=5&_wpnonce=1 /?preview=true&p=7 /?feed=rss2 /shop/?add-to-cart=5
/?rest_route=/oembed /event/fair/?ical=1 /events/2026-11-03/?outlook-ical=1 /events/list/?eventDisplay=past&ical=1
/?post_type=tribe_events&eventDisplay=day
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
/changeset/0a1b/main /export/HEAD/main/a.py /export/12/trunk/a.py /log/main/src /attachment/ticket/7/a.png
"""
TRAC_TRAPS = f"""
/report/1?asc=1&sort=ticket /report/6?USER=anonymous&format=csv&sort=component /ticket/7?format=rss /wiki/A?version=1
/query?order=priority&status=new /query?desc=1&format=csv&order=status&status=new
/timeline?authors=&daysback=30&from=2026-10-28
/timeline?from=2026-11-28T00%3A18%3A17Z&precision=second
/login /trac/login /prefs/advanced /newticket /search
/search?q=a /changeset?new=3&old=1 /changeset?new_path=tags%2Fa&old_path=tags%2Fb /wiki/A?action=diff&version=2
/admin/general/plugin /changeset/0a1b/main/ /changeset/0a1b/main/src/a.py /zip-attachment/ticket/7/
/export/{SHA}/main/a.py
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
PHPBB_PAGES = """
/ /index.php /viewforum.php?f=2 /viewforum.php?f=2&start=25 /viewtopic.php?f=2&t=7 /viewtopic.php?t=7&start=10
/memberlist.php /memberlist.php?mode=viewprofile&u=2 /memberlist.php?start=25 /memberlist.php?mode=team
/app.php/help/faq /ucp.php?mode=privacy /ucp.php?mode=terms /download/file.php?id=3 /forum/viewtopic.php?t=7 /post/3/
/search /report/2026 /viewtopic.php?topic=3 /app.php/gallery/image/3
"""
PHPBB_TRAPS = """
/viewtopic.php?p=77 /viewtopic.php?f=2&p=77 /viewtopic.php?f=2&t=7&view=print /viewtopic.php?t=7&view=next
/viewtopic.php?f=2&t=7&sk=t&sd=a&st=0 /viewtopic.php?t=7&hilit=word /viewforum.php?f=2&mark=topics&hash=1a
/index.php?hash=9d&mark=forums&mark_time=17 /posting.php?mode=reply&t=7 /ucp.php?mode=login /ucp.php?i=pm&mode=compose
/search.php?author_id=2&sr=posts /memberlist.php?first_char=a /memberlist.php?sk=a&sd=d&start=25
/memberlist.php?mode=email&u=2 /viewonline.php /app.php/feed /app.php/feed/topic/7 /app.php/post/3/report
/mcp.php?i=main /feed.php?f=2 /ucp.php /forum/report.php?p=3
"""
DISCOURSE_PAGES = """
/ /latest /latest?page=2 /categories /c/general/4 /c/general/4?page=1 /t/a-topic/55 /t/a-topic/55?page=2 /t/2026-plans/9
/u/anna /tag/maps /about /faq /tos /t/55 /uploads/default/a.pdf /top?period=all
"""
DISCOURSE_TRAPS = """
/t/a-topic/55/3 /t/2026-plans/9/41 /t/a-topic/55/3?u=anna /t/a-topic/55.rss /latest.rss /c/general/4.rss /login /signup
/search?q=a /u/anna/activity /u/anna/activity/replies /u/anna/messages /t/a-topic/55?print=true /raw/55 /posts/77
/latest?ascending=true&order=views /t/a-topic/55/print
"""
PLONE_PAGES = """
/ /news /news/item-1 /news?b_start:int=20 /news/photo.jpg/view /news/report.pdf/@@download/file/report.pdf /sitemap
/news/photo.jpg/@@images/9f.jpeg /contact-info /resolveuid/0a /sharing /news/folder_summary_view /about/login-help
/folder_listing /edit /search-tips /news/history
"""
PLONE_TRAPS = """
/news/sendto_form /news/@@historyview /news/%40%40historyview /news/folder_contents /news/@@folder_contents
/news/@@sharing /news/delete_confirmation
/news/object_copy?_authenticator=8f /news/content_status_modify?workflow_action=retract /login?came_from=x /login_form
/@@search?SearchableText=a /news/RSS /news?b_start:int=0 /news?b_start%3Aint=0 /mail_password_form /news/atom.xml
"""
DSPACE_PAGES = """
/ /community-list /handle/10986/12 /handle/10986/100 /handle/10986/100?show=full /browse?type=title
/handle/10986/12/browse?type=author /browse?type=title&sort_by=1&order=ASC&rpp=20&etal=-1&offset=20&starts_with=
/bitstream/handle/10986/100/paper.pdf?sequence=1&isAllowed=y /discover /discover?rpp=10&page=2&group_by=none&etal=0
/bitstreams/0a/download /items/0a-1/full /collections/0a /browse/title?bbm.page=2 /handle/10986/100/statistics
/metadata/handle/10986/100/mets.xml /search /register-of-ships /xmlui/handle/1/2
"""
DSPACE_TRAPS = """
/discover?filtertype=author&filter_relational_operator=equals&filter=A /handle/10986/12/discover?filtertype_0=subject
/browse?type=author&value=Smith%2C+J. /browse?type=subject&authority=ab /browse?type=title&starts_with=B
/handle/10986/12/browse?order=DESC&rpp=20&type=dateissued /simple-search?query=&filter_field_1=author&filter_value_1=A
/search-filter?field=author /search?f.author=Smith,equals&spc.page=1 /browse/author?value=Smith /feed/rss_2.0/10986/12
/browse/title?startsWith=B /open-search/description.xml /login /register /mydspace
"""
JOOMLA_PAGES = """
/ /index.php /index.php/news /index.php/news?start=10 /index.php/news/7-a-title /component/tags/tag/t1 /images/a.pdf
/index.php?option=com_content&view=article&id=7&Itemid=3 /index.php?option=com_weblinks&limitstart=20 /users /search
/news?format=full /component/content/article/7
"""
JOOMLA_TRAPS = """
/index.php/news?format=feed&type=rss /index.php/news/7-a-title?tmpl=component&print=1&layout=default /news?start=0
/index.php/component/mailto/?tmpl=component&template=x&link=0a /index.php/component/users/reset?Itemid=101
/index.php?option=com_mailto&tmpl=component /index.php?option=com_users&view=login /index.php?limitstart=0
/component/search/?searchword=a
"""
OMEKA_PAGES = """
/ /items/browse /items/browse?page=2 /items/show/7 /files/show/9 /collections/show/2 /items/browse?collection=2
/items/browse?tags=map /items/tags /exhibits/show/sea/ships /geolocation/map/browse /files/original/0a.jpg /users
/output /items/browse?sort=a
"""
OMEKA_TRAPS = """
/items/browse?output=atom /items/show/7?output=omeka-xml /items/browse?output=json&page=2 /users/login
/items/browse?sort_dir=d&sort_field=added /items/browse?sort_field=Dublin+Core%2CTitle /users/forgot-password
"""
DRUPAL_PAGES = """
/ /library /library?page=1 /de/library?page=2 /node/7 /content/node-7 /taxonomy/term/3?page=1 /user/7 /users/anna
/library?field_year_value=2021 /order?page=1 /find?f=1 /user/login-help /node/7/revisionists
"""
DRUPAL_TRAPS = """
/library?f[0]=type:news /library?f%5B0%5D=author%3A7&f%5B1%5D=year%3A2021 /de/library?page=1&f[0]=year:2020
/members?order=name&sort=asc /members?sort=desc&order=name&page=2 /user/login /user/login?destination=node/7
/user/register /user/password /comment/reply/node/7/comment /comment/reply/7 /node/7/edit /node/7/revisions
"""
KOHA_PAGES = """
/ /cgi-bin/koha/opac-main.pl /cgi-bin/koha/opac-detail.pl?biblionumber=7 /cgi-bin/koha/opac-MARCdetail.pl?biblionumber=7
/cgi-bin/koha/opac-search.pl?idx=kw&q=map /cgi-bin/koha/opac-search.pl?idx=kw&offset=20&q=map /bib/7
/cgi-bin/koha/opac-detail.pl?biblionumber=7&query_desc=kw%2Cwrdl%3A%20limit /cgi-bin/koha/opac-topissues.pl
/cgi-bin/koha/opac-search.pl?q=au:%22Limit%22 /cgi-bin/koha/opac-authoritiesdetail.pl?authid=3
/cgi-bin/koha/opac-shelves.pl?op=view&shelfnumber=2 /cgi-bin/koha/pages.pl?page_id=3
"""
KOHA_TRAPS = """
/cgi-bin/koha/opac-search.pl?idx=kw&q=map&limit=itype:BK&offset=20 /cgi-bin/koha/opac-search.pl?q=map&sort_by=title_az
/cgi-bin/koha/opac-search.pl?idx=kw&q=map&format=rss2 /cgi-bin/koha/opac-ISBDdetail.pl?biblionumber=7
/cgi-bin/koha/opac-export.pl?op=export&bib=7&format=ris /cgi-bin/koha/opac-reserve.pl?biblionumber=7
/cgi-bin/koha/opac-user.pl /cgi-bin/koha/opac-showmarc.pl?id=7 /cgi-bin/koha/opac-addbybiblionumber.pl?biblionumber=7
/cgi-bin/koha/opac-changelanguage.pl?language=de-DE /cgi-bin/koha/opac-password-recovery.pl /cgi-bin/koha/unapi?id=7
/cgi-bin/koha/opac-shelves.pl?op=view&shelfnumber=2&sortfield=title /cgi-bin/koha/opac-tags.pl /cgi-bin/koha/svc/report
"""
REDMINE_PAGES = """
/ /projects /projects/p /projects/p/issues /issues?page=2 /issues/7 /projects/p/wiki /projects/p/wiki/Page_1 /news/5
/projects/p/wiki/index /boards/1/topics/9 /boards/1/topics/9?page=2 /documents/4 /versions/2 /attachments/8
/attachments/download/8/plan.pdf /projects/p/repository/raw/a.pdf /projects/p/activity?from=2026-11-29 /projects/p/files
/projects/p/issues?page=3 /news?page=2 /projects/p/roadmap /users/1 /projects/login
"""
REDMINE_TRAPS = """
/issues?sort=id /issues?page=2&sort=id /projects/p/files?sort=filename%3Adesc /issues/40?tab=history /issues/40.pdf
/issues/40.atom /issues.csv?sort=id /boards/2/topics/46?r=48 /login?back_url=a /projects/p/wiki/Page_1/history
/projects/p/wiki/Page_1/1 /projects/p/wiki/Page_1/1/annotate /projects/p/wiki/Page_1/edit /projects?jump=welcome
/projects/p/issues?set_filter=1&status_id=c /issues?query_id=1 /projects/p/documents?sort_by=category /projects/p/search
/projects/p/wiki/Page_1.pdf /account/register /projects/p/issues/new /search?q=a /projects/p/wiki/Page_1/2/diff
"""
FOSSIL_PAGES = f"""
/ /home /wiki /wiki?name=Page15 /timeline /info/{SHA} /tktview/83ef37d43b /technote/{SHA} /forum /forumpost/0a1b2c3d4e
/brlist /taglist /dir?ci=tip /dir?ci=tip&name=src /file?ci=tip&name=src/a.py /doc/trunk/www/help/index.wiki /uv/a.zip
/doc/trunk/tree/a.md /reportlist /rptview?rn=1 /src/info/{SHA} /wcontent /ticket /attachview?tkt=a&file=b.png /rptview/1
"""
FOSSIL_TRAPS = f"""
/help?cmd=add /artifact/{SHA} /annotate?checkin=tip&filename=a.py /blame?checkin=tip&filename=a.py /timeline?uf={SHA}
/timeline?advm=1&udc=1 /raw/{SHA}?at=a.py /finfo?name=a.py /hexdump?name={SHA} /tree?ci=tip /vinfo/{SHA}?diff=1
/fdiff?v1=a&v2=b /tkthistory/{SHA} /tktview/{SHA}?plaintext= /fileage?name=trunk /tarball/50a38323e5/a-50a38323e5.tar.gz
/zip/a/a.zip /sqlar/a/a.sqlar /ci/{SHA}?diff=0 /ci_tags/{SHA} /vpatch?from=a&to=b /info?name=a&txt=1 /wiki?name=A&p=
/whistory?name=A /tkttimeline/{SHA} /tktedit/{SHA} /wdiff?id=46 /skins?skin=default /src/builtin?id=b8 /login?g=a
/test-piechart?data=44 /thisdayinhistory?today=2026-10-18 /dir?ci=50a38323e5d3de17 /dir?ci=tip&type=tree
/timeline.rss?y=ci /technote?aid=a&v=
"""
GITEA_PAGES = f"""
/ /explore/repos /o /o/r /o/r/src/branch/main/a.py /o/r/raw/branch/main/a.py /o/r/src/branch/main/archive/b.py
/o/r/commits/branch/main /o/r/commits/branch/main?page=2 /o/r/commit/{SHA} /o/r/issues /o/r/issues/7 /o/r/pulls/8
/o/r/issues?q=&type=all&sort=&state=closed&labels=&milestone=0&project=0&assignee=0&poster=&page=2 /o/r/pulls/8/files
/o/r/releases/tag/v1 /o/r/releases/download/v1/a.zip /o/r/wiki /o/r/wiki/graph /o/r/milestone/3 /git/o/r/branches
/o/r/tags /o/r/src/branch/main/issues/new-ideas.md
"""
GITEA_TRAPS = f"""
/o/r/src/commit/{SHA}/a.py /o/r/raw/tag/v1/a.py /o/r/commits/branch/main/a.py /o/r/commits/commit/{SHA}/a.py
/o/r/blame/branch/main/a.py /o/r/archive/main.zip /o/r/commit/{SHA}.diff /o/r/commit/{SHA}?style=split&whitespace=
/o/r/issues?state=all&type=mentioned /o/r/issues?labels=3&state=open /o/r/issues?poster=ann&q=
/o/r/pulls?sort=oldest&state=all /o/r/compare/main...dev /o/r/activity/weekly /o/r/graph?mode=color
/o/r/rss/branch/main /o/r/find/branch/main /user/login?redirect_to=x /o/r/_edit/main/a.py /o/r/issues/new
/o/r/pulls/8.patch /o/r/pulls/8/commits/{SHA} /o?tab=stars /git/o/r/stars /o/r/wiki/Home?action=_revision
/explore/repos?sort=newest /o/r/src/branch/main/a.md?display=source
"""
VBULLETIN_PAGES = """
/ /index.php /calendar.php /calendar.php?c=1&do=getinfo&e=5 /forumdisplay.php?f=2
/forumdisplay.php?f=2&order=desc&page=2 /showthread.php?t=7 /showthread.php?t=7&page=2
/forumdisplay.php?f=2&page=3&sort=lastpost&order=desc&pp=25&daysprune=30 /member.php?u=3
/attachment.php?attachmentid=4 /memberlist.php?order=asc&page=2&pp=30&sort=username /showthread.php?7-A-title
/showthread.php?7-A-title/page2 /faq.php
"""
VBULLETIN_TRAPS = """
/calendar.php?c=1&do=displaymonth&month=2&year=2027 /calendar.php?do=displayweek&week=1793491200 /showthread.php?p=33
/showthread.php?goto=newpost&t=7 /showthread.php?mode=hybrid&t=7 /showpost.php?p=33&postcount=3
/newreply.php?do=newreply&p=33 /printthread.php?t=7 /misc.php?do=whoposted&t=7 /archive/index.php/t-7.html
/search.php?do=getnew /forumdisplay.php?f=2&daysprune=-1&order=asc&sort=title /memberlist.php?ltr=A
/member.php?find=lastposter&f=2 /login.php?do=x /showthread.php?7-A-title&p=33 /forumdisplay.php?do=markread&f=2
/report.php?p=33 /external.php?type=RSS2
"""
XENFORO_PAGES = """
/ /forums/news.2/ /forums/news.2/page-3 /threads/a-title.7/ /threads/a-title.7/page-2 /members/ann.1/ /members/
/attachments/a-png.4/ /help/terms/ /threads/latest.9/ /media/albums/3/ /posts/a-story /whats-new/ /whats-new/in-may
"""
XENFORO_TRAPS = """
/threads/a-title.7/post-33 /threads/a-title.7/latest /threads/a-title.7/unread /goto/post?id=33 /posts/33/report
/login/ /threads/a-title.7/reply?quote=33 /forums/news.2/?order=reply_count&direction=desc /forums/news.2/post-thread
/register/ /forums/news.2/index.rss /whats-new/posts/ /search/member?user_id=1 /misc/style /forums/-/index.rss
/lost-password/ /whats-new/posts/4711/page-2 /whats-new/latest-activity /whats-new/profile-posts/
"""
MYBB_PAGES = """
/ /index.php /forumdisplay.php?fid=2 /forumdisplay.php?fid=2&page=2 /showthread.php?tid=7 /showthread.php?tid=7&page=2
/member.php?action=profile&uid=3 /memberlist.php /attachment.php?aid=4 /announcements.php?aid=1 /Thread-A-title
/thread-7.html /Thread-A-title?page=2 /thread-7-page-2.html /Forum-News /misc.php?action=help&hid=1
/calendar.php?action=event&eid=5 /user-3.html
"""
MYBB_TRAPS = """
/calendar.php?calendar=1&month=2&year=2027 /calendar.php?action=weekview&week=n1793491200 /showthread.php?pid=33&tid=7
/showthread.php?action=lastpost&tid=7 /showthread.php?mode=threaded&tid=7 /newreply.php?tid=7
/forumdisplay.php?datecut=0&fid=2&order=asc&sortby=views /misc.php?action=whoposted&tid=7 /printthread.php?tid=7
/misc.php?action=markread&fid=2&my_post_key=0a /member.php?action=login /search.php?action=getdaily
/syndication.php?fid=2 /memberlist.php?username=a&username_match=begins /memberlist.php?order=desc&sort=postnum
/archive/index.php/thread-7.html /Thread-A-title?pid=33 /thread-7-post-33.html /thread-7-lastpost.html
/usercp2.php?action=addsubscription&tid=7
"""
SMF_PAGES = """
/ /index.php /index.php?board=1.0 /index.php?board=1.20 /index.php?topic=7.0 /index.php?topic=7.15
/index.php?action=profile;u=3 /index.php?action=dlattach;topic=7.0;attach=4;image /index.php?action=gallery;sa=view;id=5
/index.php?action=articles;sa=view;article=5 /index.php?action=downloads;sa=view;down=3
"""
SMF_TRAPS = """
/index.php?topic=7.msg33 /index.php?topic=7.msg33;topicseen /index.php?topic=7.0;prev_next=next /index.php?topic=7.new
/index.php?board=1.0;sort=subject;desc /index.php?action=printpage;topic=7.0
/index.php?action=reporttm;topic=7.0;msg=33 /index.php?action=profile;u=3;area=statistics /index.php?action=login
/index.php?action=.xml;type=rss /index.php?wap2 /index.php?action=mlist;sort=posts;start=0;desc
/index.php?action=calendar;year=2030;month=3 /index.php?topic=7.0;wap2 /index.php?action=post;topic=7.0;quote=33
/index.php?action=help;area=index /index.php?action=helpadmin;help=x /index.php?action=recent /index.php?action=stats
"""
MOIN_PAGES = "/ /FrontPage /RecentChanges /TitleIndex /Page/SubPage /Page?action=AttachFile&do=get&target=a.png /Action"
MOIN_TRAPS = """
/Page?action=edit /Page?action=info /Page?action=diff&rev1=1&rev2=2 /Page?action=recall&rev=3 /Page?action=raw
/Page?action=AttachFile /Page?action=AttachFile&do=view&target=a.png /Page?action=fullsearch&value=linkto%3A%22Page%22
/Page?highlight=river /RecentChanges?max_days=30 /Page?action=AttachFile&do=del&target=a.png&ticket=1
"""
EPRINTS_PAGES = """
/ /7/ /id/eprint/7 /7/1/paper.pdf /view/ /view/year/ /view/year/2003.html /view/creators/Smith=3AJ=3A=3A.html
/cgi/counter /view/subjects/S1.html /information.html /7/1/date.title.html
"""
EPRINTS_TRAPS = """
/cgi/export/7/BibTeX/repo-eprint-7.bib /cgi/export/eprint/7/DC/repo-eprint-7.txt
/7/1.hassmallThumbnailVersion/paper.pdf /view/year/2003.type.html /view/year/2003.creators_name.html
/cgi/users/home?eprintid=7 /cgi/search/advanced /cgi/latest_tool /cgi/exportview/year/2003/Atom/2003.xml
/cgi/request_doc?docid=9 /cgi/stats/report
"""
JOURNALS_PAGES = """
/ /index.php/j/index /index.php/j/issue/archive /index.php/j/issue/view/3 /index.php/j/article/view/12
/j/about/editorialTeam /index.php/j/article/view/12/34 /index.php/j/article/download/12/34 /j/search/authors
/j/search/titles?searchPage=2 /j/search /j/catalog/category/history /j/user/profile /index.php/rt/article/view/7
/index.php/gateway/issue/view/3
"""
JOURNALS_TRAPS = """
/index.php/j/citationstylelanguage/get/apa?publicationId=12&submissionId=12
/j/citationstylelanguage/download/ris?submissionId=12 /j/user/setLocale/de_DE?source=%2Findex.php%2Fj
/j/user/register?source= /j/login /j/login/signIn /j/rt/captureCite/12/0 /j/gateway/plugin/WebFeedGatewayPlugin/rss2
/j/search/search?subject=river /j/search?authors=A /j/search/index?query=a
"""
MANTIS_PAGES = """
/ /my_view_page.php /view_all_bug_page.php /view_all_bug_page.php?page_number=2 /view.php?id=7 /changelog_page.php
/roadmap_page.php /view_user_page.php?id=3 /file_download.php?file_id=4&type=bug /main_page.php /plugin.php?page=Wiki
/bug_view_page.php?bug_id=7
"""
MANTIS_TRAPS = """
/login_page.php?return=%2Fview.php%3Fid%3D7 /print_bug_page.php?bug_id=7 /bug_reminder_page.php?bug_id=7
/view_all_set.php?dir_add=ASC&sort_add=id&type=2 /set_project.php?project_id=2 /bug_revision_view_page.php?bug_id=7
/view.php?history=1&id=7 /file_download.php?file_id=4&show_inline=1&type=bug /csv_export.php
/bug_monitor_add.php?bug_id=7
"""
SORTED_PAGES = "/list /list?page=2 /sort /list?sorted=1 /orders?order=7 /?consort=a /list?ordering=1"
SORTED_TRAPS = """
/list?sort=a /list?page=2&sort_by=name /db/t?_sort_desc=id /list?order_by=a /list?sortdir=asc /l?sortBy=a /l?orderBy=b
"""
VUFIND_PAGES = """
/vufind/ /vufind/Record/r7 /vufind/Record/r7/Holdings /vufind/Record/r7?sid=17 /vufind/Record/r7/FullText.pdf
/vufind/Author/Home?author=A /vufind/Search/Results?lookfor=a&type=Title&page=2 /vufind/Browse/Author /Search/NewItem
/vufind/Content/about /Cartography /feedback
"""
VUFIND_TRAPS = """
/vufind/Record/r7/Details?lng=de /vufind/?lng=en /vufind/Record/r7/Export?style=RIS /vufind/Record/r7/Cite
/vufind/Record/r7/SMS /vufind/Record/r7/Save /vufind/Record/r7/Email /vufind/MyResearch/Home /vufind/AJAX/JSON?method=a
/vufind/Search/Results?filter[]=format:%22Book%22&lookfor=a /vufind/Author/Home?author=A&sort=year /vufind/Cart
/vufind/Search/Results?lookfor=a&limit=50 /vufind/Search/Results?lookfor=a&view=grid
"""


@pytest.mark.parametrize(
    ("expression", "pages", "traps"),
    [
        (WIKI, WIKI_PAGES, WIKI_TRAPS),
        (
            ORDERS,
            "/cart /how-to-delete-files /subscribe /likes/7 /?action=show",
            "/cart/add?id=7 /?add-to-cart=7 /7/vote",
        ),
        (BLOG, BLOG_PAGES, BLOG_TRAPS),
        (DOKU, DOKU_PAGES, DOKU_TRAPS),
        (TRAC, TRAC_PAGES, TRAC_TRAPS),
        (FOLDERS, FOLDER_PAGES, FOLDER_TRAPS),
        (CADDY, CADDY_PAGES, CADDY_TRAPS),
        (CGIT, CGIT_PAGES, CGIT_TRAPS),
        (GITWEB, GITWEB_PAGES, GITWEB_TRAPS),
        (HGWEB, HGWEB_PAGES, HGWEB_TRAPS),
        (PHPBB, PHPBB_PAGES, PHPBB_TRAPS),
        (DISCOURSE, DISCOURSE_PAGES, DISCOURSE_TRAPS),
        (PLONE, PLONE_PAGES, PLONE_TRAPS),
        (DSPACE, DSPACE_PAGES, DSPACE_TRAPS),
        (JOOMLA, JOOMLA_PAGES, JOOMLA_TRAPS),
        (OMEKA, OMEKA_PAGES, OMEKA_TRAPS),
        (DRUPAL, DRUPAL_PAGES, DRUPAL_TRAPS),
        (VUFIND, VUFIND_PAGES, VUFIND_TRAPS),
        (KOHA, KOHA_PAGES, KOHA_TRAPS),
        (REDMINE, REDMINE_PAGES, REDMINE_TRAPS),
        (FOSSIL, FOSSIL_PAGES, FOSSIL_TRAPS),
        (GITEA, GITEA_PAGES, GITEA_TRAPS),
        (VBULLETIN, VBULLETIN_PAGES, VBULLETIN_TRAPS),
        (XENFORO, XENFORO_PAGES, XENFORO_TRAPS),
        (MYBB, MYBB_PAGES, MYBB_TRAPS),
        (SMF, SMF_PAGES, SMF_TRAPS),
        (MOIN, MOIN_PAGES, MOIN_TRAPS),
        (EPRINTS, EPRINTS_PAGES, EPRINTS_TRAPS),
        (JOURNALS, JOURNALS_PAGES, JOURNALS_TRAPS),
        (MANTIS, MANTIS_PAGES, MANTIS_TRAPS),
        (SORTED, SORTED_PAGES, SORTED_TRAPS),
    ],
)
def test_traps_are_left_and_pages_are_not(expression, pages, traps):
    root = "http://site.example"
    scope = Scope([f"{root}/seed"], exclude=[expression])
    assert [path for path in pages.split() if scope.why_not(canonical(root + path))] == []
    assert [path for path in traps.split() if not scope.why_not(canonical(root + path))] == []


PAGES = range(1, 50)  # items of each small site: three pages of its lists
LISTS = {  # what shows them, by number of the list's page; an item; what beside it each page of the site links to
    PHPBB: (
        "/viewforum.php?f=2&start={start}",
        "/viewtopic.php?f=2&t={item}",
        "/viewtopic.php?p={item} /viewtopic.php?f=2&p={item} /viewtopic.php?f=2&t={item}&view=next /posting.php",
    ),
    DISCOURSE: ("/latest?page={page}", "/t/a-topic/{item}", "/t/a-topic/{item}/2 /t/a-topic/{item}.rss /login"),
    PLONE: (
        "/news?b_start:int={start}",
        "/news/item-{item}",
        "/news/item-{item}/sendto_form /news/item-{item}/@@sharing",
    ),
    DSPACE: (
        "/browse?rpp=20&sort_by=-1&type=title&offset={start}&etal=-1&order=ASC",
        "/handle/1/{item}",
        "/browse?type=author&value=A{item} /discover?filtertype=author&filter=A{item} /browse?type=title&starts_with=A",
    ),
    JOOMLA: (
        "/index.php/news?start={start}",
        "/index.php/news/{item}-a",
        "/index.php/news/{item}-a?tmpl=component&print=1",
    ),
    OMEKA: (
        "/items/browse?page={page}",
        "/items/show/{item}",
        "/items/show/{item}?output=atom /items/browse?sort_field=a",
    ),
    KOHA: (
        "/cgi-bin/koha/opac-search.pl?idx=kw&offset={start}&q=map",
        "/cgi-bin/koha/opac-detail.pl?biblionumber={item}&query_desc=kw%3A%20map",
        "/cgi-bin/koha/opac-search.pl?idx=kw&q=map&limit=au:{item} /cgi-bin/koha/opac-export.pl?bib={item}&format=ris",
    ),
    BLOG: (
        "/events/list/page/{page}/?eventDisplay=past",
        "/event/fair-{item}/",
        "/event/fair-{item}/?ical=1 /events/list/?eventDisplay=day /event/fair-{item}/?outlook-ical=1",
    ),
}


def links(site: tuple[str, str, str], path: str) -> list[str]:
    """Of a page of a small site: lists lead to items and go on, each page leads to the software's own."""
    shown, item, beside = site
    lists = [shown.format(page=page, start=20 * page - 20) for page in (1, 2, 3)]
    here = next((number for number, one in enumerate(lists) if canonical(f"http://h{one}") == path), None)
    own = [one.format(item=number) for one in beside.split() for number in PAGES]
    if path == "http://h/":
        return [lists[1], *(item.format(item=number) for number in PAGES[:20]), *own]  # the first page of the list
    if here is None:
        return own
    return [
        *lists[here + 1 : here + 2],
        *(item.format(item=number) for number in PAGES[20 * here : 20 * here + 20]),
        *own,
    ]


@pytest.mark.parametrize("expression", LISTS)
def test_each_item_of_a_site_that_pages_its_lists_is_reached(expression):
    site, scope = LISTS[expression], Scope(["http://h/"], exclude=[expression])
    reached, waiting = {"http://h/"}, ["http://h/"]
    while waiting:
        for link in links(site, waiting.pop()):
            url = canonical(f"http://h{link}")
            if not scope.why_not(url) and url not in reached:
                reached.add(url)
                waiting.append(url)
    assert {canonical("http://h" + site[1].format(item=number)) for number in PAGES} < reached
    assert len(reached) == 1 + 2 + len(PAGES)  # the seed, two pages of the list, items; nothing of the software's own


def test_what_is_offered_is_what_a_crawl_knows():
    assert [one.exclude for one in KNOWN] == OFFERED


@pytest.mark.matrix
@pytest.mark.parametrize("piece", [";a=tree", ";a=shortlog", "&h=", "/log/?", "/tree", "/file"])
def test_long_addresses_are_looked_at_in_linear_time(piece):
    """Minutes where it is quadratic."""
    made = f"http://h/?x{piece * 100_000}"
    assert [one.name for one in KNOWN if re.search(one.exclude, made)] == []


def test_a_reply_form_is_the_post_itself():
    assert canonical("http://h/post/?replytocom=12#respond") == canonical("http://h/post/")


def test_a_record_is_the_same_whichever_search_led_to_it():
    found = canonical("http://h/cgi-bin/koha/opac-detail.pl?biblionumber=7&query_desc=kw%2Cwrdl%3A%20map")
    assert found == "http://h/cgi-bin/koha/opac-detail.pl?biblionumber=7"
