"""Extract the references of HTML pages: links to other documents, and the resources needed to replay them.

Links are ``a``, ``area``, ``frame`` (also listed as frames) and the content of ``noframes``, ``longdesc``, ``meta``
refresh, ``link`` elements that lead to documents (canonical, next, alternate), the headers Link and Refresh, URLs in
menus' values, and string literals that scripts open. Resources are everything that a browser loads by itself (with
AMP's elements), ``iframe`` documents, all candidates of ``srcset``, references of styles, and URLs for lazy loading.
Images for other sites to show (``og:image``) are neither.

``rel=nofollow`` is followed, as it is meant for the ranking of search engines. URLs that scripts concatenate are not
found.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any
from urllib.parse import unquote

from lxml import etree

from sharc_crawler.bodies.markup import ENDS, HtmlPage, bounded, parse, parsed
from sharc_crawler.links import css, files, lazy_images, modules
from sharc_crawler.links import hidden_addresses as hidden
from sharc_crawler.links.found import LIMIT, LONGEST_BASE, Found, Resolver
from sharc_crawler.links.lazy_images import srcset_candidates
from sharc_crawler.links.scripted import by_script
from sharc_crawler.model import Document

_LINKS = {"a": "href", "area": "href", "frame": "src"}
_RESOURCES = {
    **dict.fromkeys(("source", "iframe", "track", "embed", "input", "bgsound", "amp-anim"), ("src",)),
    "img": ("src", "lowsrc"),
    "script": ("src", "href", "xlink:href"),  # the latter in SVG
    "video": ("src", "poster"),
    "audio": ("src",),
    "object": ("data",),
    "applet": ("archive", "code"),
    "image": ("href", "xlink:href"),
    "use": ("href", "xlink:href"),
    "feimage": ("href", "xlink:href"),
    "model-viewer": ("src", "poster", "ios-src"),  # 3D objects of museums
}
_RESOURCES |= {f"amp-{tag}": _RESOURCES[tag] for tag in ("img", "video", "audio", "iframe")}
_INNER_TAGS = (*_LINKS, *_RESOURCES, "link", "meta", "option", "param", "style")  #: read in documents within a page
_TAGS = (*_INNER_TAGS, "base", "noframes", "table")
_PARAMETERS = {"movie", "src", "filename", "url"}  #: names of an object's parameters with a URL
#: Relations of ``link`` elements: those whose target a browser loads, and those that lead to another document.
_LOADED = {"stylesheet", "icon", "mask-icon", "preload", "modulepreload", "manifest"}
_LOADED |= {"apple-touch-icon", "apple-touch-icon-precomposed", "apple-touch-startup-image"}
_LEADING = {"canonical", "alternate", "next", "prev", "previous", "first", "last", "start", "contents", "index", "up"}
_LEADING.add("search")
#: Alternates in other formats (oEmbed, JSON) are for programs, and would double a site's pages; feeds are kept apart.
_PAGE_TYPES = {"", "text/html", "application/xhtml+xml"}
_SEARCH = "application/opensearchdescription+xml"
_FEED_TYPES = {"application/rss+xml", "application/atom+xml", "application/rdf+xml"}

_STYLED: Any = etree.XPath("//@style", smart_strings=False)
_TEXTS: Any = etree.XPath("//text()", smart_strings=False)
_SHOWN_TEXTS: Any = etree.XPath("//text()[not(parent::template or parent::noscript)]", smart_strings=False)
_BACKGROUNDS: Any = etree.XPath("//@background", smart_strings=False)
_BACKGROUND = re.compile(rb"background\s*=")
_VIEWED = re.compile(rb"=(?:https?(?::|%3a))?(?:/|%2f)[^\s\"'<>&?;=]*\.\w{2,4}[\"'&#?]")
_REFRESH = re.compile(
    r"(?:[\s\d.;,]*+url\s*=\s*|\s*\d[\d.]*+\s*[;,\s]\s*+(?=\S))(?:\"([^\"]*)|'([^']*)|(.*))", re.IGNORECASE | re.DOTALL
)


def extract(body: bytes, url: str, content_type: str | None = None) -> Found:
    """The references of a page at ``url`` with header ``content_type``. Never raises.

    Only the first :data:`~sharc_crawler.links.found.LIMIT` links, and as many resources, are returned.

    >>> found = extract(b'<base href="/b/"><a href="c#d">x</a><img srcset="e.png, f.png 2x">', "http://h/")
    >>> found.links, found.resources
    (('http://h/b/c',), ('http://h/b/e.png', 'http://h/b/f.png'))
    """
    return named(parsed(body, content_type), url)


def named(page: HtmlPage, url: str, linked: Sequence[bytes] = (), refresh: Sequence[bytes] = ()) -> Found:
    """The references of a parsed page, and of its headers ``Link`` and ``Refresh``."""
    root, written, own = page.root, _Page(), Resolver(url, page.encoding)
    for value in refresh:
        written.refresh(value.decode("latin-1"))
    for reference, relations, kind in hidden.linked(linked):
        written.link(own.one(reference) or "", relations, kind)
    if root is not None:
        written.read(root, page.data)
    base = written.base if written.base and len(written.base) <= LONGEST_BASE else ""
    resolver = Resolver(own.one(base) or url, page.encoding) if base else own
    if written.files:
        written.links.extend(files.of_host(written.files, resolver, url))
    if written.data:
        written.resources.extend(files.of_host(written.data, resolver, url))
    links, more_links = resolver.all(written.links)
    resources, more_resources = resolver.all(written.resources)
    document = Document(written.images, written.tables, len(links), root is not None and by_script(root))
    feeds, _ = resolver.all(written.feeds)
    more = more_links + more_resources
    unread = (*page.left_out, *written.unread, *([f"{more:,} references after the first {LIMIT:,}"] if more else []))
    frames, _ = resolver.all(written.frames)
    return Found(links, resources, resolver.base, more, document, feeds, frames, unread)


def shown(root: Any) -> str:
    """The visible text of a page. Scripts and styles are removed from its tree, too."""
    etree.strip_elements(root, "script", "style", with_tail=False)
    unshown = next(root.iter("template", "noscript"), None) is not None
    return "\n".join(_SHOWN_TEXTS(root) if unshown else _TEXTS(root))


class _Page:
    """Collects the references of a page, as written, in order."""

    def __init__(self) -> None:
        self.links: list[str] = []
        self.resources: list[str] = []
        self.feeds: list[str] = []
        self.frames: list[str] = []
        self.files: list[str] = []  #: links that are followed on the page's own host only
        self.data: list[str] = []  #: resources from the page's own host only
        self.scripts: list[Any] = []
        self.unread = set[str]()  #: descriptions of links that cannot be followed
        self.base: str | None = None
        self.by_scripts = False  #: may scripts write into the page, or load images?
        self.images = self.tables = 0

    def read(self, root: Any, data: bytes) -> None:
        """Collect the references of a document; its bytes show which searches can be skipped."""
        self._elements(root.iter(*_TAGS))
        lower = data.lower()
        self.links.extend(hidden.by_scripts(data))
        told = files.told(root, lower)
        if maybe := files.maybe(lower):
            self.files.extend(files.of_elements(root, self.scripts, told, lower))
            self.data.extend(files.fetched_by_elements(self.scripts))
        if b"iiif" in lower or (maybe and _VIEWED.search(lower)):
            from sharc_crawler.links import viewers  # rarely needed

            self.files.extend(viewers.shown([*self.links, *self.resources]))
            self.data.extend(viewers.manifests(data))
        if told or self.scripts:
            from sharc_crawler.links import pictures

            self.resources.extend(pictures.of_data(told))
            self.data.extend(pictures.of_scripts(self.scripts))
        body = root.find("body")
        onload = "" if body is None else body.get("onload")
        if self.by_scripts or onload or b"onclick" in lower or b"onmouse" in lower:
            self._by_handlers(root)
        if _BACKGROUND.search(lower):
            self.resources.extend(_BACKGROUNDS(root))
        if b"<?xml-stylesheet" in lower:
            from sharc_crawler.links import xml  # rarely needed

            self.resources.extend(xml.references(data.decode("utf-8", "replace")))
        if b"(" in lower and (b"url(" in lower or b"image-set(" in lower):
            for style in _STYLED(root):
                if "(" in style:
                    self.resources.extend(css.references(style))

    def _by_handlers(self, root: Any) -> None:
        from sharc_crawler.links import handlers

        for handler in handlers.texts(root):
            self.links.extend(handlers.called(handler))
            self.data.extend(handlers.images(handler))
        self.data.extend(handlers.loaded(root))
        if markup := handlers.written(handlers.scripts(root)):
            self._inner(markup)

    def _elements(self, elements: Iterable[Any]) -> None:
        for element in elements:
            tag = element.tag
            if tag in _LINKS:
                self.links.append(element.get(_LINKS[tag]) or element.get("xlink:href", ""))  # xlink in SVG
                if self.links[-1].lstrip()[:11].lower() == "javascript:":
                    from sharc_crawler.links import handlers  # for older sites

                    called = unquote(self.links[-1])
                    self.unread |= handlers.by_form(called)
                    self.links.extend(handlers.called(called))
                if tag == "frame":
                    self.frames.append(self.links[-1])
            elif tag in _RESOURCES:
                self._embedded(element, tag)
            else:
                _OTHERS[tag](self, element)

    def _embedded(self, element: Any, tag: str) -> None:
        self.images += tag == "img"
        self.by_scripts |= element.get("onerror") is not None
        references: Iterable[str] = (element.get(name, "") for name in _RESOURCES[tag])
        if tag == "applet":
            references = map(str.strip, ",".join(references).split(","))  # several archives
        if folder := element.get("codebase"):  # base URL of an applet or object
            references = (_under(folder, reference) for reference in references)
        self.resources.extend(references)
        if srcset := element.get("srcset"):
            self.resources.extend(srcset_candidates(srcset))
        self.resources.extend(lazy_images.references(element, tag))
        if hidden.is_address(description := element.get("longdesc", "")):
            self.links.append(description)
        if tag == "iframe" and (document := element.get("srcdoc")):
            self._inner(document)
        if tag == "script" and (text := element.text):
            self.scripts.append(element)
            self.by_scripts |= ".src" in text or "document.write" in text or "MM_" in text
            is_map = element.get("type", "").strip().lower() == "importmap"
            self.resources.extend(modules.mapped(text) if is_map else modules.imports(text))

    def _link(self, element: Any) -> None:
        relations = set(element.get("rel", "").lower().split())
        self.link(element.get("href", ""), relations, element.get("type", ""))
        if relations & _LOADED:
            self.resources.extend(srcset_candidates(element.get("imagesrcset", "")))

    def link(self, reference: str, relations: set[str], kind: str) -> None:
        """Add the target of a ``link`` element or header."""
        if relations & _LOADED:
            self.resources.append(reference)
        elif relations & _LEADING:
            kind = kind.strip().lower()
            if kind in _PAGE_TYPES:
                self.links.append(reference)
            elif kind in _FEED_TYPES and "alternate" in relations:
                self.feeds.append(reference)
            elif kind == _SEARCH:
                self.resources.append(reference)
            elif files.is_type(kind) and "alternate" in relations:
                self.files.append(reference)
        elif "item" in relations:  # Signposting: the files of a work
            self.files.append(reference)

    def _base(self, element: Any) -> None:
        if self.base is None:
            self.base = element.get("href")

    def _meta(self, element: Any) -> None:
        if element.get("http-equiv", "").strip().lower() == "refresh":
            self.refresh(element.get("content", ""))
        elif files.is_cited(element.get("name", "")) and hidden.is_address(said := element.get("content", "")):
            self.links.append(said)

    def refresh(self, content: str) -> None:
        """Add the target of a refresh, by an element or a header."""
        match = _REFRESH.match(content)
        self.links.append(next(filter(None, match.groups()), "") if match else "")

    def _option(self, element: Any) -> None:
        if hidden.is_address(value := element.get("value", "")):
            self.links.append(value)

    def _param(self, element: Any) -> None:
        if element.get("name", "").strip().lower() in _PARAMETERS:
            self.resources.append(element.get("value", ""))

    def _style(self, element: Any) -> None:
        self.resources.extend(css.references(element.text or ""))

    def _table(self, element: Any) -> None:  # noqa: ARG002
        self.tables += 1

    def _noframes(self, element: Any) -> None:
        """The parser returns the content of ``noframes`` as text."""
        self._inner(element.text or "")

    def _inner(self, text: str) -> None:
        """Collect the references of a document within the document, but not of documents within that."""
        root, _ = parse(bounded(ENDS.sub(b"", text.encode())).data)
        for frame in () if root is None else root.iter("iframe"):
            frame.attrib.pop("srcdoc", None)
        inner = _Page()
        inner._elements(() if root is None else root.iter(*_INNER_TAGS))
        for own, its in ((self.links, inner.links), (self.resources, inner.resources), (self.feeds, inner.feeds)):
            own.extend(its)


def _under(folder: str, reference: str) -> str:
    """A reference relative to a folder."""
    return (
        f"{folder.rstrip('/')}/{reference}" if reference and reference[0] != "/" and ":" not in reference else reference
    )


_OTHERS = {
    "link": _Page._link,
    "base": _Page._base,
    "meta": _Page._meta,
    "style": _Page._style,
    "noframes": _Page._noframes,
    "option": _Page._option,
    "param": _Page._param,
    "table": _Page._table,
}
