"""The choice of seeds in a report: which seeds were chosen and why, and how many had changed."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from sharc_crawler.instants import iso, maybe_iso
from sharc_crawler.plural import counted
from sharc_crawler.report.words import percent
from sharc_crawler.seeds import NOT_CAPTURED
from sharc_crawler.seeds.hacs.selection import Selection


def entry(selection: Selection) -> dict[str, Any]:
    """The choice of seeds, as ``report.json`` has it."""
    choice, outcome = selection.choice, selection.outcome()
    recall = outcome.recall
    return {
        "ranker": choice.ranker,
        "theta": choice.theta,
        "budget": choice.budget,
        "updates": choice.updates,
        "explore": choice.explore,
        "ranked": iso(selection.now),
        "chosen": {"seeds": outcome.chosen, "judged": outcome.chosen_judged, "changed": outcome.chosen_changed},
        "left_out": outcome.left_out,
        "explored": {"seeds": outcome.explored, "judged": outcome.explored_judged, "changed": outcome.explored_changed},
        "precision": outcome.precision,
        "recall": recall and asdict(recall),
        "reasons": dict(Counter(one.reason for one in selection.seeds).most_common()),
        "malformed": selection.malformed,
        "notes": list(selection.notes),
        "summary": lines(selection),
        "seeds": [{**asdict(seed), "last_seen": maybe_iso(seed.last_seen)} for seed in selection.seeds],
    }


def lines(selection: Selection) -> list[str]:
    """The choice in sentences."""
    choice, outcome = selection.choice, selection.outcome()
    cuts = [f"p ≥ {choice.theta}"] if isinstance(choice.theta, float) else ["θ auto"] if choice.theta else []
    cuts += [f"at most {choice.budget:,}"] if choice.budget is not None else []
    total = counted(len(selection.seeds), "seed")
    by = f"{choice.ranker} ({', '.join(cuts)})" if cuts else choice.ranker
    text = [f"{outcome.chosen:,} of {total} chosen by {by}, {outcome.left_out:,} left out"]
    left = Counter(one.reason for one in selection.seeds if not one.chosen)
    text += [f"left out: {counted(number, 'seed')} {reason}" for reason, number in left.most_common()]
    if outcome.chosen_judged:
        text.append(_judged("of the chosen seeds", outcome.chosen_changed, outcome.chosen_judged, "precision"))
    if outcome.explored:
        lost = sum(one.explored and one.why_not == NOT_CAPTURED for one in selection.seeds)
        but = f"; {lost:,} of them not captured" if lost else ""
        text.append(f"{counted(outcome.explored, 'seed')} of those left out drawn at random, to be crawled anyway{but}")
    if outcome.explored_judged:
        text.append(_judged("of these", outcome.explored_changed, outcome.explored_judged, ""))
    if recall := outcome.recall:
        text.append(f"recall about {percent(recall.estimate)} (95 %: {percent(recall.low)} to {percent(recall.high)})")
    whys = Counter(one.why_not for one in selection.seeds if one.why_not)
    text += [f"not judged: {counted(number, 'seed')}, {why}" for why, number in whys.most_common()]
    if selection.malformed:
        text.append(
            f"{counted(selection.malformed, 'malformed line')} of the history not used (sharc seeds rank names them)"
        )
    return [*text, *selection.notes]


def _judged(which: str, changed: int, judged: int, measure: str) -> str:
    share = f"{measure} {percent(changed / judged)}" if measure else percent(changed / judged)
    return f"{which} {changed:,} of {judged:,} had changed since their last capture: {share}"
