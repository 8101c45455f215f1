"""Find the links of menus that a script of an older site writes into each page that loads it.

Relative URLs are relative to that page, which is not known here. It is assumed to be in the script's folder, or in the
folder above a folder for scripts.
"""

from __future__ import annotations

import re

from sharc_crawler.links import handlers, html
from sharc_crawler.links.modules import OF_SCRIPTS


def of(script: str, url: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The links and resources in the tags that a script at ``url`` writes into pages.

    >>> of("document.write('<a href=a.htm><img src=b.gif></a>')", "http://h/c/js/menu.js")
    (('http://h/c/a.htm',), ('http://h/c/b.gif',))
    """
    apart = re.search(OF_SCRIPTS, url)
    found = html.extract(handlers.written([script]).encode(), url[: apart.start() + 1] if apart else url)
    return found.links, found.resources
