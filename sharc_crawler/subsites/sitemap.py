"""Subsites by sitemap: pages that the owner lists in one file belong together."""

from __future__ import annotations

from sharc_crawler.subsites.base import KnownPages, Labels

UNLISTED = "in no sitemap"


class BySitemap:
    """Each sitemap file is a part, within the index that names it; pages in no sitemap are one more part.

    >>> BySitemap().label("https://h.example/a", ("https://h.example/index.xml", "https://h.example/docs.xml"), ())
    ('https://h.example/index.xml', 'https://h.example/docs.xml')
    """

    by_links = False

    def labels(self, known: KnownPages) -> list[Labels]:
        """Return the labels of each page."""
        return [self.label(url, sitemaps, ()) for url, sitemaps in zip(known.urls, known.sitemaps, strict=True)]

    def label(self, url: str, sitemaps: Labels, found_on: Labels) -> Labels:  # noqa: ARG002 - the port's signature
        """Return the labels of a page."""
        return sitemaps or (UNLISTED,)
