"""The summary that is printed at the end of a crawl."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from sharc_crawler.evidence.claim import claim
from sharc_crawler.evidence.facts import CaptureFacts
from sharc_crawler.evidence.worded import grouped
from sharc_crawler.instants import second
from sharc_crawler.model import HowMade, Kind, Verdict
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.claim import sentence
from sharc_crawler.report.load import read_selection
from sharc_crawler.report.notes import left_by_bounds, noted
from sharc_crawler.report.phrases import HELD, blurred, few, guessed, kept_content, unfounded, whole
from sharc_crawler.report.words import percent, printable, short, size, span
from sharc_crawler.report.write import ReportPaths

STYLES = {"coherent": "bold cyan", "changed": "bold red", "unknown": "bold magenta", "not_captured": "dim"}
MAX_CAPTURES = 10  #: most captures shown
MAX_REASONS = 3  #: most reasons shown for unknown pages, and for pages not captured
MAX_NOTES = 5  #: most notes shown per capture, without those on how it was made


def summary(
    captures: Sequence[CaptureFacts], paths: ReportPaths, more: Iterable[tuple[str, str]] = (), stopped: str = ""
) -> str:
    """The summary of a folder's captures, styled for the terminal on stdout.

    ``more``: further lines at its end (name, value); ``stopped``: how the crawl was stopped, if it was.
    """
    console = Console(highlight=False)
    with console.capture() as captured:
        for facts in captures[:MAX_CAPTURES]:
            for line in _capture(facts, paths.json.parent, stopped):
                console.print(line, soft_wrap=True)
        if (left := len(captures) - MAX_CAPTURES) > 0:
            console.print(f"\n… and {counted(left, 'more site capture')} in the report")
        if selection := read_selection(paths.json.parent):
            from sharc_crawler.report.selection import lines  # only where seeds were ranked

            for number, text in enumerate(lines(selection)):
                console.print(fact("" if number else "seeds", text), soft_wrap=True)
        further = list(more)
        for name, value in (*((path.name, str(path)) for path in paths), *further[: 2 * MAX_CAPTURES]):
            console.print(fact(name, printable(value)), soft_wrap=True)
        if len(further) > 2 * MAX_CAPTURES:
            console.print(fact("", f"… the others beside {paths.json}"), soft_wrap=True)
    return captured.get()


def _capture(facts: CaptureFacts, folder: Path, stopped: str) -> Iterator[Text]:
    sums = facts.figures.whole
    totals, expected = sums.tally.totals(), sums.expected.totals()
    yield Text(f"\n{short(facts.site)}, captured by {short(facts.strategy)}", "bold")
    yield Text(sentence(claim(facts)))
    if facts.ended is None:
        from sharc_crawler.report.unfinished import summary_line  # a capture that was cut off

        yield Text(summary_line(facts, folder, stopped))
    yield from (Text(f"{words}.") for words in (kept_content(totals), left_by_bounds(facts)) if words)
    yield from _figures(facts, totals, expected)
    if facts.reference is None and len(facts.subsites) > 1:
        if facts.ended is not None:  # before, most of them have not been revisited
            from sharc_crawler.report.part_by_part import largest_parts  # of such captures alone

            yield from (fact(name, words) for name, words in largest_parts(facts))
    elif (facts.reference is not None and totals["captured"]) or facts.ended is None:
        yield fact("reference", second(facts.reference) if facts.reference is not None else "not reached")
    for reason, number in grouped(sums.unknown.items()).most_common(MAX_REASONS):
        yield fact("unknown", f"{counted(number, 'page')}: {short(reason)}")
    if pages := grouped((why, number) for (kind, why), number in facts.details.missing.items() if kind is Kind.PAGE):
        yield fact("not captured", _listed(pages))
    if totals["captured"] and (blur := facts.details.blur.totals()) and blur["stochastic_average"] is not None:
        missed = f"{blurred(blur)} changes that a copy misses, on average, {HELD}"
        yield fact("blur", unfounded(blur) if guessed(blur) else missed)
    yield from _truth(facts)
    yield from _duration(facts)
    yield from _notes(facts)
    yield fact("WARC", _warcs(facts, folder))


def _notes(facts: CaptureFacts) -> Iterator[Text]:
    """The first notes on problems, and how many others the report has."""
    notes = noted(facts)
    problems = [note for note in notes if not isinstance(note, HowMade)]
    shown = problems[:MAX_NOTES]
    yield from (fact("note", whole(note)) for note in shown)
    if len(notes) > len(shown):
        more = counted(len(notes) - len(shown), "more note" if shown else "note")
        how_made = "" if len(problems) > len(shown) else ", all on how it was made"
        yield fact("" if shown else "notes", f"{more} in the report{how_made}")


def _listed(reasons: Counter[str]) -> str:
    """The most common reasons."""
    listed = [f"{number:,} × {short(reason)}" for reason, number in reasons.most_common(MAX_REASONS)]
    if (left := len(reasons) - MAX_REASONS) > 0:
        listed.append(f"{counted(left, 'more reason')} in the report")
    return "; ".join(listed)


def _with_embedded(facts: CaptureFacts, coherent: int) -> Iterator[Text]:
    """How many pages are coherent with all that they embed, if fewer or on the server's word; and what is missing."""
    embedded = facts.figures.completeness
    complete, on_word = facts.details.complete, embedded.on_word() if embedded else 0
    if embedded is None or (complete[Verdict.COHERENT] == coherent and not on_word):
        return
    told = [f"{complete[Verdict.COHERENT]:,} of {complete.total():,} coherent with all they embed"]
    judged, missing = embedded.embedded()
    apart = [f"{judged[verdict]:,} {verdict}" for verdict in (Verdict.CHANGED, Verdict.UNKNOWN) if judged[verdict]]
    told += [f"of what is embedded {', '.join(apart)}"] if apart else []
    told += [f"{counted(on_word, 'resource')} only by the server's word, which audits do not check"] if on_word else []
    told += [f"missing: {_listed(grouped(missing.items()))}"] if missing else []
    yield fact("embedding", "; ".join(told))


def _figures(facts: CaptureFacts, totals: Mapping[str, Any], expected: Mapping[str, Any]) -> Iterator[Text]:
    yield _verdicts(facts, totals, facts.details.redirects[Kind.PAGE])
    yield from _with_embedded(facts, totals["coherent"])
    if expected["pages"] and not facts.refuted:
        yield fact("expected", _expected(expected))
    if facts.audit is not None:
        from sharc_crawler.report.servers_word import bounded  # only where the server's word counts

        if audited := bounded(claim(facts)):
            yield fact("audit", audited)


def _expected(expected: Mapping[str, Any]) -> str:
    """What was expected of pages, and the result."""
    if guessed(expected):
        return unfounded(expected)
    from sharc_crawler.report.forecasts import came, forecast  # as above

    return f"{forecast(expected)} {HELD}; {came(expected)}"


def _truth(facts: CaptureFacts) -> Iterator[Text]:
    """How many verdicts agree with the true changes, and the actual blur, if these are known."""
    if facts.figures.truth and (truth := facts.figures.truth.totals()):
        judged = truth["agree"] + truth["false_coherent"] + truth["false_changed"]
        agree = f"{truth['agree']:,} of {counted(judged, 'verdict')} {agreeing(truth['agree'], 'agree')} with it"
        blur = (facts.details.blur.totals() or {}).get("actual_average")
        yield fact("truth", agree if blur is None else f"{agree}; blur {few(blur)}")


def _duration(facts: CaptureFacts) -> Iterator[Text]:
    if facts.ended is not None:
        yield fact("took", span(facts.ended - facts.started))
    if cuts := facts.interruptions:
        lasted = span(sum(end - start for start, end in cuts))
        words = f"{counted(len(cuts), 'time')}, for {lasted} in all, from the last download before each"
        yield fact("interrupted", words)


def _verdicts(facts: CaptureFacts, totals: Mapping[str, Any], redirects: int) -> Text:
    parts = [(f"{totals[name]:,} {name.replace('_', ' ')}", style) for name, style in STYLES.items()]
    if redirects:
        parts[-1] = (f"{parts[-1][0]} ({counted(redirects, 'redirect')} to captured pages)", STYLES["not_captured"])
    line = fact("pages", "").append(*parts[0]).append(f" ({percent(totals['share'])})" if totals["captured"] else "")
    for part in parts[1:]:
        line.append(", ").append(*part)
    if facts.skipped:
        from sharc_crawler.report.left_out import beyond  # only where anything was left

        line.append(beyond(facts), STYLES["not_captured"])
    return line


def _warcs(facts: CaptureFacts, folder: Path) -> str:
    if not facts.warcs:
        return "none"
    first = next(folder.rglob(facts.warcs[0]), folder / facts.warcs[0])
    more = f" and {counted(len(facts.warcs) - 1, 'more file')}" if len(facts.warcs) > 1 else ""
    return f"{first}{more}, {size(facts.payload_bytes)} of payload"


def fact(name: str, value: str) -> Text:
    """A line of output: a name, indented and dim, with its value."""
    return Text.assemble((f"  {name:<12} ", "dim"), value)
