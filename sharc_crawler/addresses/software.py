"""Known software of websites, and the URLs that it generates beside those of content."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

SHARE = 1 / 3  #: minimum share of generated URLs in a sample
SIGNED = 1 / 20  #: minimum share of URLs that only this software has; many others use `?action=`, too


class Software(NamedTuple):
    """A program that publishes websites or lists folders."""

    name: str
    what: str  #: description of the URLs that it generates
    exclude: str  #: regular expression for these
    signs: str  #: regular expression for URLs that only it has
    named: str = ""  #: regular expression for URLs in sitemaps that show it; empty: none do


#: names of MediaWiki's namespace *Special*, and of its list of all pages, in several languages
_SPECIAL = (
    "Special|Spezial|Sp%C3%A9cial|Especial|Speciale|Speciaal|Specjalna|Speciel"
    "|%D0%A1%D0%BB%D1%83%D0%B6%D0%B5%D0%B1%D0%BD%D0%B0%D1%8F"
)
_ALL_PAGES = (
    "All(Pages|ePaginas)|Alle_Seiten|Toutes_les_pages|Todas|TutteLePagine|Wszystkie_strony"
    "|%D0%92%D1%81%D0%B5_%D1%81%D1%82%D1%80%D0%B0%D0%BD%D0%B8%D1%86%D1%8B"
)

_SORTED = (
    r"(\?|&)_?(sort([-_]?([Bb]y|[Cc]ol(umn)?|[Dd]esc|[Dd]ir(ection)?|[Ff]ield|[Kk]ey|[Oo]rder))?"
    r"|order[-_]?([Bb]y|[Dd]ir))="
)

KNOWN = (
    Software(
        "MediaWiki",
        "histories, differences, forms and lists",
        r"(\?|&)(action|veaction|oldid|diff|curid|direction|printable|redlink|returnto|mobileaction|useskin|uselang|feed)="
        rf"|(/|=)({_SPECIAL})(:|%3A)(?!{_ALL_PAGES})|/api\.php(\?|$)",
        rf"(/|=)({_SPECIAL})(:|%3A)|/index\.php\?(action=(edit|history|info)|diff=|oldid=)[^#]*&title=|/api\.php\?action=",
        r"/sitemap-[^/]+-NS_\d+-\d+\.xml|/index\.php\?title=[^&]+$",
    ),
    Software(
        "WordPress",
        "log-ins, feeds, forms, calendars to export and what changes a cart",
        r"/wp-(login|signup|comments-post|trackback|cron)\.php|/wp-(admin|json)(/|$)|/xmlrpc\.php"
        r"|/(feed|trackback|embed)/?$"
        r"|(\?|&)(s|share|like_comment|preview|feed|rest_route|_wpnonce|add-to-cart|add_to_wishlist|(outlook-)?ical)="
        r"|(\?|&)eventDisplay=(?!past\b)",
        r"/wp-(login|signup|trackback|cron|admin|json|content)\b"
        r"|(\?|&)(like_comment|rest_route|_wpnonce|add-to-cart|add_to_wishlist|outlook-ical|eventDisplay)=",
        r"/wp-sitemap[^/]*\.xml|/wp-content/",
    ),
    Software(
        "DokuWiki",
        "histories, differences, forms and lists",
        r"(\?|&)(do|idx|ns|rev|rev2|difftype|tab_files|tab_details|sectok)(%5B[01]%5D)?=|/_export/|/feed\.php",
        r"(\?|&)do=(edit|diff|revisions|backlink|index|login|media|recent)\b|/doku\.php",
        r"/doku\.php",
    ),
    Software(
        "Trac",
        "lists in other orders and formats, old versions, differences and forms",
        r"(\?|&)(format|sort|asc|desc|order|max|USER|version|rev|(old|new)(_path)?|action|authors|from|annotate)="
        r"|(?<!/wiki)/(login|logout|prefs|newticket|register|admin|search)(/|\?|$)"
        r"|/changeset/[^/?]+/[^/?]+/|/export/[0-9a-f]{40}/|/zip-attachment/",
        r"/report/\d+\?([^#]*&)?(sort|asc|USER|format)=|/query\?([^#]*&)?order=|/ticket/\d+\?([^#]*&)?format="
        r"|/timeline\?([^#]*&)?from=",
    ),
    Software(
        "Apache's list of a folder",
        "the same folder in another order",
        r"(\?|&)C=(N|M|S|D)(;|%3B|&)O(=|%3D)(A|D)",
        r"(\?|&)C=(N|M|S|D)(;|%3B|&)O(=|%3D)(A|D)",
    ),
    Software(
        "Caddy's list of a folder",
        "the same folder in another order",
        r"(\?|&)order=(asc|desc)&sort=(name|namedirfirst|size|time)(&|$)",
        r"(\?|&)order=(asc|desc)&sort=(name|namedirfirst|size|time)(&|$)",
    ),
    Software(
        "cgit",
        "old versions, differences, archives and lists in other orders",
        r"^\w+://[^/]+(/(?!(about|commit|log|plain|tag|tree)/)[^/?]+)*/((atom|blame|blob|diff|patch|rawdiff|snapshot)/"
        r"|(commit|log)/([^?]|\?h=[^#]*&)|(about|plain|refs|stats|tree)/[^?]*\?|log/\?([^#]*&)?id=|\?h=)"
        r"|(\?|&)(context|dt|follow|id2|ignorews|q|qt|s|showmsg|ss)=",
        r"/(blame|commit|diff|log|patch|plain|tree)/[^?]*\?([^#]*&)?id2?=[0-9a-f]{40}|/log/[^?]*\?([^#]*&)?showmsg=1",
    ),
    Software(
        "gitweb",
        "old versions, differences, archives, feeds and lists in other orders",
        r"([?;&]|%3B)a(=|%3D)(atom|blame|blobdiff|commitdiff|history|log\b|opml|patch|project_index|rss|search|snapshot)"
        r"|([?;&]|%3B)(ds|hp|o|opt|pf|sf|st)(=|%3D)|(;|&|%3B)hb(=|%3D)(?!HEAD\b)"
        r"|([?;&]|%3B)a(=|%3D)shortlog(;|&|%3B)h(=|%3D)(refs(/|%2F)tags|[0-9a-f]{40})",
        r"\?p=[^;&]+[;&]a=(blame|blob|blobdiff|commitdiff|history|patch|shortlog|snapshot|tree)\b",
    ),
    Software(
        "Mercurial's hgweb",
        "old versions, differences, archives, feeds, lists of other lengths and help",
        r"(\?|&)(linerange|rev|revcount|style)=|^\w+://[^/]+(/(?!(file|raw-file)/)[^/?]+)*/((annotate|archive|atom-\w+"
        r"|comparison|diff|graph|help|log|raw-rev|rss-\w+)(/|\?|$)|(file|raw-file)/(?!tip(/|\?|$)))",
        r"(\?|&)revcount=\d|/(annotate|comparison|file|raw-file|raw-rev)/[0-9a-f]{12}(/|\?|$)",
    ),
    Software(
        "phpBB",
        "posts and topics under second addresses, sorted lists, searches, log-ins and forms",
        r"/view(topic|forum)\.php\?([^#?]*&)?(bookmark|hash|hilit|mark|p|sd|sk|st|unwatch|view|watch)="
        r"|/memberlist\.php\?([^#?]*&)?((first_char|sd|sk)=|mode=(contactadmin|email|livesearch|searchuser)\b)"
        r"|/index\.php\?([^#?]*&)?mark=|/(cron|feed|mcp|posting|report|search|viewonline)\.php(\?|$)"
        r"|/ucp\.php(?!\?mode=(privacy|terms)$)|/app\.php/(cron|feed)\b|/post/\d+/report$",
        r"/viewtopic\.php\?([^#?]*&)?(p=\d|view=(print|next|previous)\b)|/(posting|ucp)\.php\?([^#?]*&)?mode="
        r"|/viewforum\.php\?([^#?]*&)?mark=",
    ),
    Software(
        "Discourse",
        "single posts, which are shown within their topic, pages to print, feeds, sorted lists, searches and log-ins",
        r"/t/[^/?]+/\d+/(\d+|print)/?(\?|$)|^\w+://[^?]+\.rss(\?|$)|/(login|signup|session|search)(/|\?|$)|/(posts/\d+|raw/\d+)"
        r"|/u/[^/?]+/(activity|messages|notifications|preferences)\b|(\?|&)(ascending|order|print)=",
        r"/t/[^/?]+/\d+(/\d+|\.rss)(\?|$)",
    ),
    Software(
        "Plone",
        "forms, histories and orders to its content",
        r"/((@@|%40%40)?(content_status_(history|modify)|delete_confirmation|folder_(contents|factories|rename_form)"
        r"|login_form|mail_password(_form)?|object_(copy|cut|delete|paste|rename)|require_login|select_default_(page|view)"
        r"|sendto_form)|(@@|%40%40)(edit|historyview|login|register|search|sharing)|login|RSS|atom\.xml|rss\.xml)/?(\?|$)"
        r"|(\?|&)(_authenticator=|came_from=|b_start(:|%3A)int=0(&|$))",
        r"/((@@|%40%40)(historyview|sharing)|content_status_(history|modify)|delete_confirmation|folder_contents"
        r"|object_(copy|cut|delete|rename)|sendto_form)/?(\?|$)",
    ),
    Software(
        "DSpace",
        "facets, lists from an initial on or backwards, feeds and log-ins",
        r"/(discover|simple-search)\?([^#?]*&)?(filter\w*|fq)=|/search-filter(\?|$)|/search\?([^#?]*&)?f\.\w+="
        r"|/browse(/\w+)?\?([^#?]*&)?((authority|starts_with|startsWith|value)=[^&]|order=DESC\b)"
        r"|/feed/(rss|atom)_\d|/open-search/|/(login|register|forgot|mydspace|password-login)(\?|$)",
        r"/discover\?([^#?]*&)?filter(type)?(_\d+)?=|/browse\?([^#?]*&)?type=\w+&value=|/simple-search\?([^#?]*&)?filter_field_"
        r"|/search\?([^#?]*&)?f\.\w+=[^&]*(,|%2C)(equals|authority)\b",
    ),
    Software(
        "Joomla",
        "feeds, pages to print or without their frame, log-ins and forms",
        r"(\?|&)(format=feed|print=1|tmpl=component|start=0|limitstart=0)(&|$)"
        r"|/component/(mailto|users|search|finder)(/|\?|$)|(\?|&)option=com_(mailto|users|search|finder)(&|$)",
        r"(\?|&)(format=feed&type=(rss|atom)|tmpl=component|option=com_\w+)(&|$)|/component/(mailto|users|finder)(/|\?|$)",
    ),
    Software(
        "Omeka",
        "its items in other formats, sorted lists and log-ins",
        r"(\?|&)(output|sort_dir|sort_field)=|/users/(login|forgot-password)(\?|$)",
        r"/(items|collections|exhibits|files)/(browse|show)\b[^?]*\?([^#?]*&)?(output=(atom|dc-rdf|dcmes-xml|json|omeka-(json|xml)|rss2)"
        r"\b|sort_field=)",
    ),
    Software(
        "Drupal",
        "lists narrowed by facets or in another order, log-ins and forms",
        r"(\?|&)(f(%5B|\[)\d+(%5D|\])=|order=[^&#]+&([^#]*&)?sort=(asc|desc)(&|$))|/user/(login|register|password)(\?|$)"
        r"|/comment/reply/|/node/\d+/(delete|edit|revisions)\b",
        r"(\?|&)f(%5B|\[)\d+(%5D|\])=[^&#]+(%3A|:)|/comment/reply/(\w+/)?\d",
    ),
    Software(
        "VuFind",
        "lists narrowed by filters or in another order, its pages in other languages, exports, forms and accounts",
        r"(\?|&)((filter|hiddenFilters)(%5B|\[)(%5D|\])|lng|sort|limit|view)="
        r"|/Record/[^/?]+/(AddTag|Cite|Email|Export|SMS|Save)(\?|$)|/(MyResearch|Cart|AJAX|Feedback)(/|\?|$)",
        r"/Record/[^/?]+/(AddTag|Cite|Export|SMS)(\?|$)|/(Author/Home|Record/[^?]+|Search/\w+)\?([^#?]*&)?lng="
        r"|/(Author/Home|Search/\w+)\?([^#?]*&)?filter(%5B|\[)(%5D|\])=",
    ),
    Software(
        "Koha",
        "lists narrowed by facets or in another order, exports, records in second forms, baskets, forms and accounts",
        r"/opac-(ISBDdetail|addbybiblionumber|basket|changelanguage|downloadcart|downloadshelf|export|memberentry"
        r"|modrequest|passwd|password-recovery|ratings|registration-verify|reserve|review|search-history|sendbasket"
        r"|sendshelf|showmarc|suggestions|tags|user)\.pl(\?|$)|/opac-shelves\.pl\?([^#?]*&)?(direction|sortfield)="
        r"|/opac-search\.pl\?([^#?]*&)?(count|expand|format|limit|multibranchlimit|nolimit|sort_by)="
        r"|/cgi-bin/koha/(ilsdi|oai|unapi|svc)\b",
        r"/opac-(ISBDdetail|addbybiblionumber|export|reserve|showmarc)\.pl\?|/opac-search\.pl\?([^#?]*&)?(limit|sort_by)=",
    ),
    Software(
        "Redmine",
        "lists in other orders, queries, exports, single posts, old versions and forms",
        r"(\?|&)(back_url|jump|per_page|query_id|set_filter|sort(_by)?|tab)=|/topics/\d+\?([^#?]*&)?r="
        r"|^\w+://(?![^?]*/(attachments|repository)/)[^?]*\.(atom|csv|pdf)(\?|$)"
        r"|/wiki/[^/?]+/(\d+(/(annotate|diff))?|annotate|diff|edit|history)(\?|$)"
        r"|(?<!/projects)/(login|search|account/(lost_password|register)|(boards/\d+/topics|issues|news|documents)/new)(/|\?|$)",
        r"/issues(\.(atom|csv|pdf))?\?([^#?]*&)?((per_page|query_id|set_filter)=|sort=[^&#]*(%3A|%2C))"
        r"|/issues/\d+\?tab=(changesets|history|notes|properties|time_entries)\b|/wiki/[^/?]+/\d+/annotate",
    ),
    Software(
        "Fossil",
        "old versions, differences, histories, archives, help and forms",
        r"^\w+://(?![^?]*/(doc|uv)/)[^?]*/(annotate|artifact|blame|builtin|ci|ci_tags|fdiff|fileage|finfo|hexdump|help|json|login"
        r"|praise|raw|skins|sqlar|tarball|test-\w+|thisdayinhistory|tkt(edit|history|new|timeline)|tree|vdiff|vinfo|vpatch|wdiff|whistory|wikiedit|zip)"
        r"(/|\?|$)|/timeline(\.rss)?\?|(\?|&)ci=[0-9a-f]{10,64}(&|$)"
        r"|^\w+://[^?]*/(dir|file|info|technote|tktview|wiki)(/[^/?]*)?\?([^#?]*&)?(aid|diff|ln|p|plaintext|txt|type|udc|v|w)=",
        r"/(artifact|ci|ci_tags|info|tktview|vinfo)/[0-9a-f]{10,64}(\?|$)|/(timeline|tree)\?([^#?]*&)?(advm|nofiles|udc|unhide)=",
    ),
    Software(
        "Gitea or Forgejo",
        "files at other commits, blames, archives, lists narrowed by filters or in another order, log-ins and forms",
        r"^\w+://[^/]+(/(?!wiki/)[^/?]+){2,3}/(_\w+|activity|archive|atom|blame|compare|find|forks|graph|rss|stars|watchers)(/|\?|$)"
        r"|/(commits|media|raw|src)/(commit|tag)/|/commits/branch/[^/?]+/[^?]|/commit/[0-9a-f]{7,64}(\.(diff|patch)$|\?)"
        r"|/(issues|pulls)/(new(/|\?|$)|\d+\.(diff|patch)$)|/pulls/\d+/(commits|files)[/?]"
        r"|/user/(forgot_password|login|oauth2|sign_up)(/|\?|$)|/wiki/[^/?]*\?action="
        r"|(\?|&)(archived_labels|assignee|display|labels|language|milestone|poster|project|sort|style|tab|whitespace)=[^&#0]"
        r"|(\?|&)type=(assigned|created_by|mentioned|review\w+)\b",
        r"/(blame|commits|media|raw|src)/(branch|commit|tag)/|/(issues|pulls)\?([^#?]*&)?assignee=[^#?]*&milestone=",
    ),
    Software(
        "vBulletin",
        "posts and topics under second addresses, sorted lists, calendars, searches, log-ins and forms",
        r"/showthread\.php\?([^#?]*&)?(goto|highlight|mode|nojs|p|viewfull)=|/archive/index\.php|/calendar\.php\?(?!([^#?]*&)?do=getinfo\b)"
        r"|/forumdisplay\.php\?([^#?]*&)?((do|prefixid)=|order=asc|sort=(?!lastpost\b))"
        r"|/member(list)?\.php\?([^#?]*&)?((do|find|ltr|tab)=|order=desc|sort=(?!username\b))"
        r"|/(ajax|editpost|external|inlinemod|login|misc|new(attachment|reply|thread)|online|poll|postings|printthread|private|profile"
        r"|register|report|reputation|search|sendmessage|showpost|subscription|threadrate|usercp)\.php(\?|$)",
        r"/showthread\.php\?([^#?]*&)?(goto=|p=\d)|/showpost\.php\?([^#?]*&)?p=\d|/(newreply|sendmessage)\.php\?do=",
    ),
    Software(
        "XenForo",
        "single posts, which are shown within their topic, sorted lists, searches, log-ins and forms",
        r"/threads/[^/?]+/(add-reply|latest|post-\d+|reply|unread|watch)(/|\?|$)|/(goto|posts/\d+|search|whats-new/(\w+-)?(activity|feed|media|posts|resources))(/|\?|$)"
        r"|/(account|login|lost-password|register)(/|\?|$)|/misc/(language|style)|/forums/[^/?]+/(create-thread|post-thread|watch)(/|\?|$)"
        r"|/forums/[^/?]+/\?([^#?]*&)?(direction|last_days|order|prefix_id|starter_id|thread_type)=|/index\.rss$",
        r"/threads/[^/?]+\.\d+/(latest|post-\d+|unread)(/|\?|$)|/goto/post\?id=\d",
    ),
    Software(
        "MyBB",
        "posts and topics under second addresses, sorted lists, calendars, searches, log-ins and forms",
        r"/(showthread|[Tt]hread-[^/?]+)(\.php)?\?([^#?]*&)?(action|highlight|mode|pid)=|/archive/index\.php|/calendar\.php\?(?!action=event\b)"
        r"|/thread-\d+-(lastpost|newpost|next(newest|oldest)|post-\d+)\.html"
        r"|/forumdisplay\.php\?([^#?]*&)?(action|datecut|order|prefix|sortby)=|/memberlist\.php\?([^#?]*&)?(letter|order|sort|username\w*)="
        r"|/member\.php\?([^#?]*&)?action=(?!profile\b)|/misc\.php\?([^#?]*&)?action=(?!help\b)"
        r"|/(editpost|new(reply|thread)|polls|printthread|private|ratethread|report|reputation|search|sendthread|syndication|usercp2?)\.php(\?|$)",
        r"/showthread\.php\?([^#?]*&)?pid=\d+&tid=\d|/(newreply|printthread|sendthread)\.php\?([^#?]*&)?tid=\d|/misc\.php\?action=whoposted",
    ),
    Software(
        "Simple Machines Forum",
        "posts and topics under second addresses, sorted lists, calendars, searches, log-ins and forms",
        r"/index\.php\?([^#?]*&)?(action=(\.xml|activate|announce|calendar|clock|collapse|credits|deletemsg|edit\w+|email\w*"
        r"|findmember|groups|help\w*|js\w+|likes|lock\w*|log(in|out)\w*|markasread|mergetopics|mlist|moderate|move\w+"
        r"|notify\w*|pm|post2?|printpage|profile(?!(%3B|;)u(%3D|=)\d+(&|$))|quick\w+|quote\w+|recent|register2?|remind\w*"
        r"|remove\w+|report\w+|search2?|sendtopic|signup2?|spellcheck|split\w+|stats|sticky|suggest|theme|trackip|unread\w*"
        r"|verificationcode|vote|who)\b|wap2?\b|topic=\d+\.(from|msg|new)"
        r"|(board|topic)=[^&#?]*(%3B|;)(all|imode|prev_next|sort|wap2?)\b)",
        r"/index\.php\?([^#?]*&)?(topic=\d+\.(msg\d|\d+(%3B|;)prev_next)|board=\d+\.\d+(%3B|;)sort|action=[a-z]+(%3B|;)(msg|topic)(%3D|=)\d)",
    ),
    Software(
        "MoinMoin",
        "old versions, differences, forms and lists",
        r"(\?|&)(action=(?!AttachFile&do=get&)|highlight=|max_days=)",
        r"\?([^#?]*&)?action=(AttachFile|CopyPage|DeletePage|LikePages|LocalSiteMap|MyPages|RenamePage|SpellCheck|SyncPages)\b",
    ),
    Software(
        "EPrints",
        "records in other formats, previews of documents, lists in other groups, searches and log-ins",
        r"/cgi/(export|exportview|latest\w*|request_doc|search|set_lang|stats|users)(/|\?|$)|/\d+/\d+\.has\w+Version/"
        r"|/view/\w+/[^/?]+\.(creators(_name)?|date|datestamp|title|type)\.html",
        r"/cgi/export(/eprint)?/\d+/\w+/|/\d+/\d+\.has\w+Version/|/view/\w+/[^/?]+\.creators(_name)?\.html",
    ),
    Software(
        "Open Journal Systems",
        "citations of each article in many styles, its pages in other languages, searches, log-ins and forms",
        r"/citationstylelanguage/(download|get)/|/user/(register|setLocale)(/|\?|$)|/(gateway/(clockss|lockss|plugin)|login|notification|rt/\w+/\d+)(/|\?|$)"
        r"|/search(/(advanced(Results)?|index|search))?\?",
        r"/citationstylelanguage/(download|get)/|/user/setLocale/|/rt/(captureCite|emailColleague|metadata|printerFriendly)/",
    ),
    Software(
        "MantisBT",
        "issues to print, their histories and revisions, filters and orders of lists, exports, log-ins and forms",
        r"/(account_\w+|bug_(?!view_)\w+|csv_export|excel_xml_export|issues_rss|login_\w+|lost_pwd_page|permalink_page|print_\w+|search"
        r"|set_project|signup_page|view_all_set)\.php(\?|$)|/view\.php\?([^#?]*&)?history=|/file_download\.php\?([^#?]*&)?show_inline=",
        r"/(bug_(monitor_add|reminder_page|revision_view_page)|print_bug_page|set_project|view_all_set)\.php\?",
    ),
    Software("Sorted lists", "the same lists in other orders", _SORTED, _SORTED),  # anybody's: behind all others
)


def recognised(urls: Sequence[str]) -> tuple[Software, list[str]] | None:
    """Return the software that generated a large share of these URLs, and those URLs.

    >>> made = [f"http://h/w/index.php?action=history&title=P{number}" for number in range(9)]
    >>> software, own = recognised(["http://h/w/index.php/P1", *made])
    >>> software.name, len(own)
    ('MediaWiki', 9)
    >>> recognised([f"http://h/?action=show&id={number}" for number in range(9)])  # somebody else's pages
    """
    best: tuple[Software, list[str]] | None = None
    joined = "\n".join(urls)
    for software in KNOWN:
        if not re.search(software.signs, joined, re.MULTILINE):  # usual: no other expression need be compiled
            continue
        own = [url for url in urls if re.search(software.exclude, url)]
        if software.exclude is _SORTED:
            own = _in_two_orders(own)
        signed = sum(re.search(software.signs, url) is not None for url in own)
        enough = len(own) >= SHARE * len(urls) and signed >= max(SIGNED * len(urls), 1)
        if enough and len(own) > len(best[1] if best else ()):
            best = software, own
    return best


def _in_two_orders(urls: Sequence[str]) -> list[str]:
    """Return URLs of lists that are linked in two orders: ``?sort=price&page=7`` alone may lead to more items."""
    lists = [re.sub(_SORTED + "[^&#]*", "", url) for url in urls]
    orders = Counter(lists)
    return [url for url, unsorted in zip(urls, lists, strict=True) if orders[unsorted] > 1]


def named(urls: Iterable[str]) -> Software | None:
    """Return the software shown by URLs of sitemaps and their pages."""
    shown = [(software, re.compile(software.named)) for software in KNOWN if software.named]
    return next((software for url in urls for software, sign in shown if sign.search(url)), None)


def of_note(note: str) -> Software | None:
    """Return the software that a capture's note names."""
    return next((software for software in KNOWN if note.startswith(f"{software.name}: ")), None)


def described(software: Software, own: int, sample: int) -> str:
    """Describe the software's URLs in one sentence."""
    return f"{software.name}: {own:,} of the {sample:,} addresses found last are of its making ({software.what})"


def together(given: Iterable[str], software: Software) -> str:
    """Return the value of ``exclude`` that adds the software's URLs to those excluded already."""
    return "|".join((*given, software.exclude))
