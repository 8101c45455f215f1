"""Subsites by path: the folders of a site."""

from __future__ import annotations

from urllib.parse import urlsplit

from sharc_crawler.subsites.base import KnownPages, Labels

DEEPEST = 8  #: maximum depth of folders


class ByPath:
    """Each folder of a URL's path is a part of the one above; pages directly in it are one more part.

    >>> ByPath().label("https://h.example/docs/api/open.html", (), ())
    ('h.example', 'h.example/docs/', 'h.example/docs/api/', 'h.example/docs/api/*')
    """

    by_links = False

    def labels(self, known: KnownPages) -> list[Labels]:
        """Return the labels of each page."""
        return [self.label(url, (), ()) for url in known.urls]

    def label(self, url: str, sitemaps: Labels, found_on: Labels) -> Labels:  # noqa: ARG002 - the port's signature
        """Return the labels of a page."""
        parts = urlsplit(url)
        labels = [parts.netloc]
        folder = f"{parts.netloc}/"
        for name in parts.path.removeprefix("/").split("/")[:-1][:DEEPEST]:
            folder += f"{name}/"
            labels.append(folder)
        return (*labels, f"{folder}*")
