"""Studies as Markdown: Table I, the mean weighted P@K, and the claims with whether they hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.seeds.hacs.study import Interval, Study

_METHODS = {"hacs": "HACS", "hacs-plain": "HACS, plain", "frequency": "Frequency"}
_LEFT_OUT = "Claims and pictures are of every w; the tables that follow have some of them."


def slug(title: str) -> str:
    """A title as part of a file name.

    >>> slug("Dense, homepages")
    'dense-homepages'
    """
    return re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")


def shown(weeks: Iterable[int]) -> list[int]:
    """The lengths of history that tables show: each about twice the one before, and the longest.

    >>> shown(range(1, 13))
    [1, 2, 4, 8, 12]
    """
    *_, longest = known = list(weeks)
    return [one for one in known if one.bit_count() == 1 or one == longest]


def markdown(studies: Sequence[Study], preface: str) -> str:
    """The whole document."""
    parts = [preface.strip(), "## What holds", _claims(studies), _LEFT_OUT, *map(_section, studies)]
    return "\n\n".join(parts) + "\n"


def _claims(studies: Sequence[Study]) -> str:
    lines = ["| claim, at every w | " + " | ".join(study.title for study in studies) + " |"]
    lines.append("|---" * (len(studies) + 1) + "|")
    claims = [study.claims() for study in studies]
    lines += [f"| {name} | " + " | ".join(_verdict(claim[name]) for claim in claims) + " |" for name in claims[0]]
    return "\n".join(lines)


def _verdict(failing: list[int]) -> str:
    return "not at w = " + ", ".join(map(str, failing)) if failing else "yes"


def _section(study: Study) -> str:
    name = slug(study.title)
    parts = [f"## {study.title}"]
    for method, called in _METHODS.items():
        parts += [f"### {called}: Table I, micro and macro averages", _table(study, method)]
    likely = {weeks: study.likely(weeks) for weeks in shown(study.scoring)}
    parts += ["### Micro F1 at the θ of greatest expected F1", _values(likely)]
    ahead = {weeks: study.leads(weeks) for weeks in shown(study.scoring)}
    parts += ["### By how much HACS leads in micro F1 there (95 % of weeks drawn again)", _intervals(ahead)]
    precisions = {weeks: study.precisions(weeks) for weeks in shown(study.scoring)}
    parts += ["### Mean weighted P@K (Figure 11)", _values(precisions)]
    parts.append(f"![F1, precision and recall over θ](pictures/hacs-{name}-theta.svg)")
    parts.append(f"![Mean weighted P@K over w](pictures/hacs-{name}-pk.svg)")
    return "\n\n".join(parts)


def _table(study: Study, method: str) -> str:
    """For HACS, Random and brute force in full; for other methods, Random with as many seeds."""
    in_full = method == "hacs"
    names = ["w", "seeds", "known", "θ̂", *(f"{measure} {_METHODS[method]}" for measure in ("P", "R", "F1"))]
    names += [f"{measure} {who}" for who in ("Random", "Brute") for measure in ("P", "R", "F1")] if in_full else []
    names += [*([] if in_full else ["F1 Random"]), "macro: θ̂", "P", "R", "F1", "F1 Random"]
    lines = ["| " + " | ".join(names) + " |", "|---" * len(names) + "|"]
    seeds, known = study.sizes()
    for weeks in shown(study.scoring):
        micro, macro = (study.row(weeks, method, average) for average in ("micro", "macro"))
        values = [micro.theta, *micro.own, *((*micro.random, *micro.brute) if in_full else micro.random[2:])]
        values += [macro.theta, *macro.own, macro.random[2]]
        head = f"| {weeks} | {seeds[weeks]:.0f} | {known[weeks]:.0%} | "
        lines.append(head + " | ".join(f"{value:.3f}" for value in values) + " |")
    return "\n".join(lines)


def _values(rows: Mapping[int, Mapping[str, float]]) -> str:
    return _by_weeks({weeks: {name: f"{value:.3f}" for name, value in row.items()} for weeks, row in rows.items()})


def _intervals(rows: Mapping[int, Mapping[str, Interval]]) -> str:
    return _by_weeks(
        {
            weeks: {name: f"{low:+.3f} to {high:+.3f}" for name, (low, high) in row.items()}
            for weeks, row in rows.items()
        }
    )


def _by_weeks(rows: Mapping[int, Mapping[str, str]]) -> str:
    names = list(next(iter(rows.values())))
    lines = ["| w | " + " | ".join(names) + " |", "|---" * (len(names) + 1) + "|"]
    lines += [f"| {weeks} | " + " | ".join(row.values()) + " |" for weeks, row in rows.items()]
    return "\n".join(lines)
