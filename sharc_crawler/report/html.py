"""Make ``report.html``, a self-contained page, from ``report.json`` and its pages.

A content security policy forbids it to fetch anything; its own style and script are allowed by their hashes. The
templates escape all untrusted text (URLs, reasons, settings).
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from itertools import chain, islice
from typing import Any, NamedTuple
from urllib.parse import unquote

from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from markupsafe import Markup, escape

from sharc_crawler.addresses.urls import machine_of
from sharc_crawler.evidence.claim import Statement
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report import phrases, words
from sharc_crawler.report.listing import REPLAY
from sharc_crawler.report.next_steps import next_steps, trapped
from sharc_crawler.report.phrases import HELD, blurred, few, guessed
from sharc_crawler.report.schedule import schedule
from sharc_crawler.report.shown_pages import MAX_ROWS, Gathered
from sharc_crawler.report.words import percent, printable, size, span

_STEERING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  #: all but tabs and line ends


def steady(text: str) -> str:
    r"""The text with control characters and direction marks spelled out.

    >>> steady("a\u202eb\x1b[2J\n")
    'a\\u202eb\\x1b[2J\n'
    """
    return _STEERING.sub(lambda found: printable(found[0]), text)


class Tile(NamedTuple):
    """A figure with its label, and a note on it."""

    label: str
    value: str
    note: str


def tiles(report: Mapping[str, Any]) -> list[Tile]:
    """The figures at the top of a report, as far as they are known."""
    found = [_coherence(report), _complete(report), _expected(report), _truth(report), _blur(report)]
    return [tile for tile in [*found, _reference(report), _duration(report), _archive(report)] if tile]


def _coherence(report: Mapping[str, Any]) -> Tile:
    totals = report["coherence"]
    more = f"; {totals['same_content']:,} more had the same content" if totals["same_content"] else ""
    note = f"{totals['coherent']:,} of {counted(totals['captured'], 'page')}{more}"
    return Tile("Coherent", percent(totals["share"]), note)


def _complete(report: Mapping[str, Any]) -> Tile | None:
    complete = report["coherence"]["complete"]
    if not report["resources"]["known"]:
        return None
    pages, stated = counted(complete["coherent"], "page"), counted(complete["on_word"], "such file")
    note = f"{pages} with every image, style and script that they embed and the server has"
    note += f"; {stated} by the server's word alone, not audited" if complete["on_word"] else ""
    return Tile("Complete coherence", percent(complete["share"]), note)


def _expected(report: Mapping[str, Any]) -> Tile | None:
    expected = report["coherence"]["expected"]
    refuted = report["claim"]["code"] == Statement.REFUTED
    if not expected["pages"] or guessed(expected) or refuted:  # a guess is no figure to look at
        return None
    from sharc_crawler.report.forecasts import came, forecast  # where rates are known

    what = "coherent" if expected["same_content"] == expected["counted"] else "to keep content"
    return Tile(f"Expected {what}", forecast(expected), f"{HELD}; {came(expected)}")


def _truth(report: Mapping[str, Any]) -> Tile | None:
    truth = report["truth"]
    if not truth:
        return None
    wrong = truth["false_coherent"] + truth["false_changed"]
    judged = truth["agree"] + wrong
    share = truth["agree"] / judged if judged else None
    return Tile("Agrees with the truth", percent(share), f"{wrong:,} of {counted(judged, 'judgement')} wrong")


def _blur(report: Mapping[str, Any]) -> Tile | None:
    blur = report["blur"]
    if not blur or blur["stochastic_average"] is None or guessed(blur):
        return None
    truth = "" if blur["actual_average"] is None else f"; in truth {few(blur['actual_average'])}"
    return Tile("Average blur", blurred(blur), f"changes that a copy misses, {HELD}{truth}")


def _reference(report: Mapping[str, Any]) -> Tile | None:
    reference = report["times"]["reference"]
    parts = sum(part["reference"] is not None for part in report["subsites"])
    if reference is None and parts:
        return Tile("Reference instants", f"{parts:,}", "one for each part of the site")
    if reference is None and report["times"]["ended"]:  # the strategy has none, or nothing could be captured
        return None
    if reference is None:
        return Tile("Reference instant", "–", "not reached")
    return Tile("Reference instant", reference[11:19], f"UTC, {reference[:10]}")


def _duration(report: Mapping[str, Any]) -> Tile:
    times = report["times"]
    passes = [f"{name} {span(times[name]['seconds'])}" for name in ("visits", "revisits") if times[name]]
    seconds = times["seconds"]
    return Tile("Duration", "running" if seconds is None else span(seconds), ", ".join(passes))


def _archive(report: Mapping[str, Any]) -> Tile:
    if not report["warcs"]:
        return Tile("Archived", "nothing", "no WARC files")
    files = counted(len(report["warcs"]), "WARC file")
    detail = f"{counted(report['exchanges'], 'exchange')} in {files}, a certificate's own not counted"
    if retried := report["coherence"]["retried"]:
        detail += f"; {counted(retried, 'page')} took several requests"
    if taken := report["coherence"]["not_asked"]:
        detail += f"; {counted(taken, 'page', 'were')} not asked for, and {agreeing(taken, 'lie')} in former captures"
    return Tile("Archived", size(report["payload_bytes"]), detail)


NAME = "report.html"
_MARKED = re.compile(r"(\d{4}-\d\d-\d\dT[\d:.]+Z)|`([^`]+)`")  #: instants; commands and file names
_PAGES = Markup("<!-- pages -->")  #: placeholder for the pages
MAX_LINK = 500  #: most characters of a URL that becomes a link; longer ones are shown shortened


def render(document: Mapping[str, Any], lines: Iterable[str]) -> dict[str, Iterable[str]]:
    """The HTML pages of a report by file name: one, or for several captures an overview and one for each.

    Each is returned in pieces, as it may be large. ``lines`` of ``report-pages.jsonl`` are iterated twice.
    """
    captures = document["captures"]
    common = {"generator": document["generator"], "several": len(captures) != 1, "seeds": document.get("seeds")}
    shown = _gathered(captures, lines)
    if len(captures) == 1:
        return {NAME: _capture_page(captures[0], shown[0], common)}
    names = [f"report-{number}.html" for number in range(1, len(captures) + 1)]
    listed = list(zip(names, captures, strict=True))
    pages = {name: _capture_page(capture, own, common) for (name, capture), own in zip(listed, shown, strict=True)}
    return {NAME: [environment().get_template("overview.html").render(common, captures=listed)], **pages}


def _gathered(captures: Sequence[Mapping[str, Any]], lines: Iterable[str]) -> list[Gathered]:
    """What is shown of each capture's pages; their lines are in the order of the captures."""
    found = [Gathered() for _ in captures]
    source = iter(lines)
    for own, capture in zip(found, captures, strict=True):
        for number, line in enumerate(islice(source, capture["urls"])):
            own.add(number, line)
    source = iter(lines)
    for own, capture in zip(found, captures, strict=True):
        wanted = set(own.drawn.lines())
        chosen = enumerate(islice(source, capture["urls"]))
        own.draw({number: line for number, line in chosen if number in wanted})
    return found


def _capture_page(report: Mapping[str, Any], shown: Gathered, common: Mapping[str, Any]) -> Iterable[str]:
    missing, redirects = shown.missing.items(), shown.redirects.items()
    changed = next((_link(page["url"]) for page in shown.rows.items() if page["content"] == "changed"), "")
    text = (
        environment()
        .get_template("capture.html")
        .render(
            common,
            report=report,
            site=_machine(report["seeds"][0]) if report["seeds"] else "",
            same_day=len(shown.days) == 1,
            tiles=tiles(report),
            steps=next_steps(report, changed),
            trapped=trapped(report),
            drawing=schedule(report, shown.drawn, shown.drawn_pages),
            classes=shown.classes.classes(),
            rows=shown.rows.items(),
            listing=_PAGES,
            replay=REPLAY,
            left=report["not_followed"]["urls"][:MAX_ROWS],
            missing=missing,
            redirects=redirects,
            reasons=list(report["not_captured"]["reasons"].items())[:8],
        )
    )
    before, mark, after = text.partition(_PAGES)
    return chain([before], shown.listing.pieces() if mark else (), [after])


@cache
def environment() -> Environment:
    """The templates with their filters and globals."""
    environment = Environment(
        loader=PackageLoader("sharc_crawler.report"),
        auto_reload=False,  # otherwise each template's file is checked for each of a thousand sites
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
    environment.template_class = _Steady
    environment.filters |= {name: getattr(words, name) for name in ("percent", "short", "span")}
    environment.filters |= {
        "agreeing": agreeing,
        "chance": phrases.chance,
        "counted": counted,
        "figure": phrases.figure,
        "founded": phrases.founded,
        "guessed": phrases.guessed,
        "how_kept": _how_kept,
        "kept_content": phrases.kept_content,
        "label": _label,
        "link": _link,
        "marked": _marked,
        "often": phrases.often,
        "readable": lambda path: path if "\ufffd" in unquote(path) else unquote(path),  # as far as it is UTF-8
        "sources": phrases.sources,
    }
    icon: Callable[[str], str] = environment.get_template("marks.html").module.icon  # type: ignore[attr-defined]
    environment.globals["icon"] = cache(icon)  # each page's row has one
    return environment


class _Steady(Template):
    """A template whose output has no control characters: somebody may print it to a terminal."""

    def render(self, *given: Any, **named: Any) -> str:
        return steady(super().render(*given, **named))

    def generate(self, *given: Any, **named: Any) -> Iterator[str]:
        return map(steady, super().generate(*given, **named))


def _asset(name: str) -> str:
    return files("sharc_crawler.report").joinpath("templates", name).read_text("utf-8")


def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def _machine(url: str) -> str:
    """The host of a web URL; empty for other URLs."""
    scheme, _, rest = url.partition("://")
    return machine_of(rest.partition("/")[0]) if scheme in ("http", "https") else ""


def _how_kept(totals: Mapping[str, Any]) -> str:
    from sharc_crawler.report.noise import how_kept  # few captures have such pages

    return how_kept(totals)


def _label(url: str, site: str) -> str:
    """A URL for readers: only its path if it is on the site itself, with or without ``www.``.

    >>> _label("https://www.example.org/a", "example.org"), _label("https://blog.example.org/a", "example.org")
    ('/a', 'https://blog.example.org/a')
    """
    own = site and _machine(url) == site
    return words.short("/" + url.split("/", 3)[3] if own and url.count("/") > 2 else url, 90)


def _marked(sentence: str) -> Markup:
    """A sentence with markup for instants (no line breaks) and for commands.

    >>> _marked("at 2026-11-21T01:21:00Z & <then>: `sharc masks`")
    Markup('at <time>2026-11-21T01:21:00Z</time> &amp; &lt;then&gt;: <code>sharc masks</code>')
    """
    forms = (escape, Markup("<time>{}</time>").format, Markup("<code>{}</code>").format)
    parts = enumerate(_MARKED.split(sentence))
    return Markup("").join(forms[place % 3](part) for place, part in parts if part)


def _link(url: str) -> str:
    """A URL for a link; empty if it is no web URL, too long, or not printable."""
    return url if url.startswith(("http://", "https://")) and len(url) <= MAX_LINK and url.isprintable() else ""
