"""What a page is ranked with: its site, its folder, or the pages that share its URL's template."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence


class By(StrEnum):
    """Level of a ranking."""

    SITE = "site"
    FOLDER = "folder"
    TEMPLATE = "template"


_VARYING = re.compile(r"\d|(?:[^-_]+[-_]){3}")  #: a number, or a title of four words


def group_of(page: str, site: str, by: By) -> str:
    """The group of a page (a URL) of a site.

    A folder is the leading folders of a path without digits (dates and numbers tell pages apart, not sections); a
    template keeps the names in a URL and stars what varies: segments with digits or of many words, and query values.

    >>> page = "https://a.org/news/uk/2024/05/a-dog-bites-back.html?id=7"
    >>> group_of(page, "a.org", By.FOLDER)
    'https://a.org/news/uk/'
    >>> group_of(page, "a.org", By.TEMPLATE)
    'https://a.org/news/uk/*/*/*?id=*'
    >>> group_of(page, "a.org", By.SITE)
    'a.org'
    """
    if by is By.SITE:
        return site
    parts = urlsplit(page)
    root = f"{parts.scheme}://{parts.netloc}"
    segments = parts.path.split("/")[1:]
    if by is By.FOLDER:
        return root + "/" + "".join(segment + "/" for segment in _section(segments[:-1]))
    names = [query.partition("=")[0] for query in parts.query.split("&") if query]
    query = "?" + "&".join(f"{name}=*" for name in sorted(names)) if names else ""
    return root + "/" + "/".join("*" if _VARYING.search(segment) else segment for segment in segments) + query


def groups_of(pages: Sequence[str], sites: Sequence[str], by: By) -> list[str]:
    """The group of each page."""
    return [group_of(page, site, by) for page, site in zip(pages, sites, strict=True)]


def seed_of(group: str) -> str:
    """Where an instant crawler finds a group's new pages: a site's or folder's entry page, a template's folder.

    >>> seed_of("a.org"), seed_of("https://a.org/b/a.asp?p=*")
    ('https://a.org/', 'https://a.org/b/')
    """
    if "://" not in group:
        return f"https://{group}/"
    fixed = group.partition("?")[0].partition("*")[0]
    return fixed[: fixed.rindex("/") + 1]


def _section(folders: list[str]) -> list[str]:
    for i, folder in enumerate(folders):
        if _VARYING.search(folder):
            return folders[:i]
    return folders
