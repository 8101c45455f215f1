"""``report.html``: pages that a reader opens anywhere, made from ``report.json`` alone.

Nothing is fetched from elsewhere, and a content security policy in each page holds it to that: its style and its script
are allowed by their hashes. Everything from outside (URLs, reasons, settings) is escaped by the templates.
"""

from __future__ import annotations

from base64 import b64encode
from collections import Counter
from functools import cache
from hashlib import sha256
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from sharc_crawler.report import words
from sharc_crawler.report.charts import rate_classes
from sharc_crawler.report.entries import moved
from sharc_crawler.report.schedule import schedule
from sharc_crawler.report.tiles import tiles
from sharc_crawler.urls import machine_of

if TYPE_CHECKING:
    from collections.abc import Mapping

NAME = "report.html"
MAX_ROWS = 1000  #: rows of a table; the rest is in report.json
MAX_LINK = 500  #: characters of a URL that is made a link; longer ones are shown, shortened
ORDER = {"changed": 0, "unknown": 1, "coherent": 2}  #: what a reader looks for first


def render(document: Mapping[str, Any]) -> dict[str, str]:
    """The pages for a report by file name: one for the only capture, or an overview and one for each of several."""
    captures = document["captures"]
    common = {"generator": document["generator"], "several": len(captures) != 1, "seeds": document.get("seeds")}
    if len(captures) == 1:
        return {NAME: _capture_page(captures[0], common)}
    names = [f"report-{number}.html" for number in range(1, len(captures) + 1)]
    listed = list(zip(names, captures, strict=True))
    pages = {name: _capture_page(capture, common) for name, capture in listed}
    return {NAME: environment().get_template("overview.html").render(common, captures=listed), **pages}


def _capture_page(report: Mapping[str, Any], common: Mapping[str, Any]) -> str:
    pages = [page for page in report["pages"] if page["kind"] == "page" and page["verdict"]]
    captured = {page["url"] for page in report["pages"] if page["verdict"]}
    by_reason = sorted(report["not_captured"], key=lambda entry: (entry["reason"], entry["url"]))
    led_on = moved({entry["url"]: entry["target"] for entry in by_reason}, captured)
    redirects = [entry for entry in by_reason if entry["url"] in led_on]
    missing = [entry for entry in by_reason if entry["url"] not in led_on]
    days = {page[slot]["started"][:10] for page in pages for slot in ("visit", "revisit") if page[slot]}
    return (
        environment()
        .get_template("capture.html")
        .render(
            common,
            report=report,
            site=_machine(report["seeds"][0]) if report["seeds"] else "",
            same_day=len(days) == 1,
            tiles=tiles(report),
            drawing=schedule(report),
            classes=rate_classes(report),
            rows=sorted(pages, key=lambda page: (ORDER[page["verdict"]], -(page["rate"] or 0.0)))[:MAX_ROWS],
            left=report["not_followed"]["urls"][:MAX_ROWS],
            missing=missing,
            redirects=redirects,
            redirecting_pages=sum(entry["kind"] == "page" for entry in redirects),
            max_rows=MAX_ROWS,
            reasons=Counter(entry["reason"] for entry in missing).most_common(8),
        )
    )


@cache
def environment() -> Environment:
    """The templates, with what each of them may use."""
    environment = Environment(
        loader=PackageLoader("sharc_crawler.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    style, script = (Markup(_asset(name)) for name in ("style.css", "table.js"))  # noqa: S704 - files of ours
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; img-src data:"
    environment.globals |= {
        "style": style,
        "script": script,
        "policy": f"{policy}; base-uri 'none'; form-action 'none'",
    }
    environment.filters |= {
        name: getattr(words, name) for name in ("counted", "every", "kept_content", "percent", "short", "span")
    }
    environment.filters |= {"figure": words.figure, "label": _label, "link": _link}
    return environment


def _asset(name: str) -> str:
    return files("sharc_crawler.report").joinpath("templates", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _machine(url: str) -> str:
    """The host of a web address; empty for what is none."""
    scheme, _, rest = url.partition("://")
    return machine_of(rest.partition("/")[0]) if scheme in ("http", "https") else ""


def _label(url: str, site: str) -> str:
    """A URL to read: its path on the site itself, with or without ``www.``.

    >>> _label("https://www.example.org/a", "example.org"), _label("https://blog.example.org/a", "example.org")
    ('/a', 'https://blog.example.org/a')
    """
    own = site and _machine(url) == site
    return words.short("/" + url.split("/", 3)[3] if own and url.count("/") > 2 else url, 90)


def _link(url: str) -> str:
    """A URL to follow; empty for what is no web address or is too long to repeat."""
    return url if url.startswith(("http://", "https://")) and len(url) <= MAX_LINK else ""
