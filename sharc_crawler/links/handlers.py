"""Find pages and images in event handlers and scripts of older sites, such as arguments of functions that follow links.

Only whole string literals count, not concatenated ones. Dynamic pages (``.php``) are taken only from functions whose
name suggests navigation (``go``, ``openWin``), as other URLs may be orders to the server.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from lxml import etree

from sharc_crawler.links.files import ENDING, MOST

LONGEST = 10_000  #: most characters of a handler that are read
_TEXT = r"(?:\"([^\"'\s<>\\]{1,500})\"|'([^\"'\s<>\\]{1,500})')(?!\s*[+.])"
_CALL = re.compile(r"([\w$]{1,50})\s*\(\s*(?:(?:event|this)\s*,\s*)?" + _TEXT)
_ESCAPED = re.compile(r"\\(?:/|(?:u00|x)(2[3-689a-fA-F]|3[0-9abdfABDF]))")  #: without quotes, < and >
_GO_TO = re.compile(r"MM_goToURL\s*\(\s*'[\w.]{1,50}'\s*,\s*()" + _TEXT)
_PATH = r"(?i)(?:https?://[^/]+/|/)?[^\s:?#*{}<>\\\"']+"
_PAGE = re.compile(rf"{_PATH}\.(?:[sx]?html?|{ENDING})(?:[?#]\S*)?")
_PROGRAM = re.compile(rf"{_PATH}\.(?:aspx?|php\d?|jsp|cfm)(?:[?#]\S*)?")
_IMAGE = re.compile(rf"{_PATH}\.(?:gif|jpe?g|png|bmp|webp|svg|ico)(?:\?\S*)?")
_WAY = re.compile(r"(?i)go|open|pop|win|show|view|jump|nav|load|link|page|url")
_NO_WAY = re.compile(r"(?i)track|urchin|pageview|confirm|delet|remov|submit|vote")
#: words in names of functions and programs that take orders; rather too many, as these links are guesses anyway
_ORDER = re.compile(
    r"(?i)delet|\bdel\b|remov|drop|eras|destroy|purge|empty|clear|trash|kill|\bban\b|log_?(?:out|off)|sign_?(?:out|off)|exit"
    r"|close|register|subscri|approv|vote|like|cart|basket|\badd|buy|order|l(?:oe|%c3%b6|ö)sch|abmeld|supprim|borrar|elimin"
)
_ASKS = re.compile(r"\bconfirm\s*\(")  #: asks for confirmation, so it is an order

LIST_BY_FORM = "the further pages of a list, to which a form alone leads"
_POSTED_BACK = re.compile(r"(?i)__doPostBack\s*\(\s*['\"](?:[^'\"]*?(?:next|pager)|[^'\"]*+['\"]\s*,\s*['\"]page\$)")

_HANDLERS: Any = etree.XPath("//@*[starts-with(name(), 'on')]", smart_strings=False)
_ANY_TEXT = re.compile(r"(\+\s?)?(?:\"([^\"\n]{0,500})\"|'([^'\n]{0,500})')(?=(\s*[+.])?)")
_SOURCE = re.compile(r"\.src\s*=\s*" + _TEXT)
_LATER = re.compile(r"MM_(?:preloadImages|swapImage)\s*\(([^()]{1,4000})\)")
_WRITTEN = re.compile(r"document\.write(?:ln)?\s*\(\s*(?:\"((?:[^\"\\\n]|\\.){1,4000})\"|'((?:[^'\\\n]|\\.){1,4000})')")
_SCRIPTS = re.compile(r"|(?:text|application)/(?:x-)?(?:java|ecma)script|module")


def called(script: str) -> list[str]:
    r"""Pages and files that are the first argument of function calls in a script.

    >>> called("javascript:openWin('map.html', 200)"), called("show('map', 'a.pdf')"), called("go('a.asp?id=3')")
    (['map.html'], [], ['a.asp?id=3'])
    >>> called(r"STSNavigate('\u002fa.aspx')"), called("RefreshPageTo(event, '/b.aspx?Paged=TRUE')")
    (['/a.aspx'], ['/b.aspx?Paged=TRUE'])
    >>> called("confirmed('/a.php?id=3')"), called("go('delete.php?id=3')"), called("trackPageview('/a.html')")
    ([], [], [])
    """
    script = _ESCAPED.sub(lambda one: chr(int(one[1], 16)) if one[1] else "/", script[:LONGEST])
    calls = [*islice(_CALL.finditer(script), MOST), *islice(_GO_TO.finditer(script), MOST)]
    asks = _ASKS.search(script) is not None
    return [match[2] or match[3] for match in calls if _leads(match[1], match[2] or match[3], asks=asks)][:MOST]


def _leads(function: str, text: str, *, asks: bool) -> bool:
    """Does a function call lead to its argument? ``asks``: the handler asks for confirmation first."""
    if _NO_WAY.search(function):
        return False
    if _PAGE.fullmatch(text):
        return True
    is_way = not asks and (not function or (_WAY.search(function) and not _ORDER.search(function)))
    return bool(is_way and _PROGRAM.fullmatch(text) and not _ORDER.search(text))


def by_form(script: str) -> set[str]:
    """What a script reaches only by submitting a form, such as further pages of an ASP.NET list; empty: nothing known.

    >>> by_form("javascript:__doPostBack('ctl00$list','Page$2')"), by_form("javascript:__doPostBack('ctl00$save','')")
    ({'the further pages of a list, to which a form alone leads'}, set())
    """
    return {LIST_BY_FORM} if _POSTED_BACK.search(script[:LONGEST]) else set()


def texts(root: Any) -> list[str]:
    """The event handlers of a page's elements."""
    return list(dict.fromkeys(islice(_HANDLERS(root), MOST)))


def images(script: str) -> list[str]:
    """The images in an event handler.

    >>> images("MM_swapImage('i','','img/b.gif',1); this.src = '/c.png'; d = '/e/' + f + '/g.gif'")
    ['img/b.gif', '/c.png']
    >>> images("this.style.background='url(a.gif)'")
    ['a.gif']
    """
    texts = islice(_ANY_TEXT.finditer(script[:LONGEST]), MOST)
    alone = (match[2] or match[3] or "" for match in texts if not match[1] and not match[4])
    shown = (text.removeprefix("url(").removesuffix(")").strip("'") for text in alone)  # a background, or a source
    return [text for text in shown if _IMAGE.fullmatch(text)]


def loaded(root: Any) -> list[str]:
    """The images that a page's scripts preload."""
    found = list[str]()
    for script in scripts(root):
        for call in islice(_LATER.finditer(script), MOST):
            found += images(call[1])
        sources = (match[1] or match[2] for match in islice(_SOURCE.finditer(script), MOST))
        found += [text for text in sources if _IMAGE.fullmatch(text)]
    return found[:MOST]


def written(scripts: Iterable[str]) -> str:
    """The whole tags that scripts write into a page with ``document.write`` of string literals."""
    found = (match[1] or match[2] for script in scripts for match in islice(_WRITTEN.finditer(script), MOST))
    whole = (text[: text.rfind(">") + 1] for text in islice(found, MOST))
    return "\n".join(re.sub(r"\\(.)", r"\1", re.sub(r"\\[nrt]", " ", text)) for text in whole)


def scripts(root: Any) -> Iterator[str]:
    """The inline JavaScript of a page."""
    for script in root.iter("script"):
        if script.text and _SCRIPTS.fullmatch(script.get("type", "").strip().lower()):
            yield script.text
