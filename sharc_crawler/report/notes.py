"""What the figures of a capture give reason to tell its reader, in sentences."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from sharc_crawler.evidence.facts import LEARNED
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.guides import guide
from sharc_crawler.model import HowMade, Kind
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.phrases import forecast, guessed, how_kept, sources
from sharc_crawler.report.words import percent, short

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from sharc_crawler.evidence.facts import CaptureFacts

MANY = 0.05  #: share of the pages from which on something is worth a note
FAR = 4.0  #: standard deviations between what was expected and what was counted
DETECTOR_FAILED = "judged by bytes alone, since the detector failed"  #: where that is somebody else's
ALTERED = "The certificate does not hold: the folder is not as it was when it was sealed."
SEED = "seed"  #: who named what was typed
TILED = "/info.json"  #: ends the address of an image's description, by which viewers know its tiles
LED = "the seed "  #: a note begins so, of one that redirects out of its scope
UNDER_WAY = "it was being captured when this report was written: it says how far that was"
BY_SCRIPT = "its menus may be made by script"
LOCKED = Reason.REFUSED.of("status 401")
ORDERS = "like orders to the server by their names"
_WHYS = 2  #: reasons why something was not masked that are told
ALIKE = 3  #: URLs with one payload from which on they are hardly pages of their own


def noted(facts: CaptureFacts) -> list[str]:
    """All notes, those of the crawl among them: what speaks against the capture first, how it was made last."""
    totals = facts.figures.whole.tally.totals()
    found = [
        *_lies(facts),
        *(f"seed {short(one.url)} is not in the capture: {one.reason}" for one in facts.outside if one.via == SEED),
        *_asked(facts, totals["captured"]),
        *facts.notes,
        *_by_script(facts),
        *_alike(facts, totals["captured"]),
        *_walled(facts, totals["captured"]),
        *_whose(facts),
        *_noise(facts, totals),
        *_surprise(facts),
        *_masked(facts),
    ]
    return sorted(
        found, key=lambda note: (isinstance(note, HowMade), not note.startswith(LED), DETECTOR_FAILED not in note)
    )


def left_by_bounds(facts: CaptureFacts) -> str:
    """How many pages and links the budget, ``limit`` and ``hops`` left, and the way out; empty where they did not."""
    if not (facts.skipped or facts.figures.missing):
        return ""
    from sharc_crawler.report.bounds import left_by  # only where anything was left

    return left_by(facts)


def _lies(facts: CaptureFacts) -> Iterator[str]:
    if facts.audit and any(one["caught"] for one in facts.audit["strata"]):
        from sharc_crawler.report.misleading import caught, standing_in  # only of servers that may lie

        older = facts.figures.whole.tally.totals()["former_copies"] if facts.belied else 0
        yield from (*caught(facts.audit), *standing_in(older))


def _noise(facts: CaptureFacts, totals: Mapping[str, Any]) -> Iterator[str]:
    """What differed and is ignored; which masks the capture taught, or why none."""
    masks, learned = len(facts.taught.masks), ""
    if totals["by_masks"]:
        give = "SHARC_MASKS=FILE" if "spider" in facts.settings else "-a masks=FILE, or in a collection masks: auto"
        learned = (
            f". {counted(masks, 'mask', 'were')} learned: of what differed, within a minute, on half or more of the"
            f" pages that have it. What is edited so often looks the same: look at {LEARNED} beside this report before"
            f" you give it to the next capture ({give})"
        )
    if learned or totals["same_content"] > MANY * totals["captured"]:
        bytes_alone = f"Coherence is judged by bytes all the same; what is ignored: {guide('changes')}"
        yield f"{how_kept(totals)}. {bytes_alone}{learned}"
    if facts.taught.why:
        what = "Not masked" if masks else "No mask was learned"
        yield HowMade(f"{what}: {' '.join(facts.taught.why[:_WHYS])} `sharc masks` tells more")


def _masked(facts: CaptureFacts) -> Iterator[str]:
    """Which masks it was made with, and whether anybody chose them."""
    if number := facts.settings.get("masks_number"):
        file, taken = facts.settings["masks"], facts.settings.get("masks_taken")
        unseen = f", {taken} of them taken over from former captures by itself (masks: auto)" if taken else ""
        yield HowMade(
            f"made with {counted(int(str(number)), 'mask')}{unseen}: what differs in nothing else counts as the same"
            f" content, and a 304 beside it is no lie. An edit of just that is not seen: look at {file}"
        )


def _surprise(facts: CaptureFacts) -> Iterator[str]:
    """The count lies where no chance takes it: the rates were wrong."""
    found = facts.figures.whole.expected.totals()
    missed = found["same_content"] - found["coherent"]
    inside = found["low"] <= found["same_content"] <= found["high"]  # as where a rebuild came that was thought likely
    if inside or abs(missed) <= max(FAR * found["deviation"], MANY * found["pages"]):
        return
    if guessed(found):  # then nothing was expected
        pages = f"{found['guessed']:,} of {counted(found['pages'], 'page', 'change')}"
        yield HowMade(f"Nothing told beforehand how often {pages}. {_remembered(facts)}")
        return
    came = sources(dict(facts.figures.rate_sources.most_common()))
    more = "more" if missed < 0 else "less"
    ignore = f"; if it is noise that differs, `sharc masks` learns to ignore it ({guide('changes')})"
    noise = ignore if missed < 0 else ""
    yield (
        f"{forecast(found)} pages were expected to keep their content and {found['same_content']:,} did: the pages"
        f" change {more} often than the rates say, which came from {came}. {_remembered(facts)}{noise}"
    )


def _remembered(facts: CaptureFacts) -> str:
    """Whether what this capture saw is kept for the next one, and where."""
    if history := facts.settings.get("history"):
        return f"What this capture saw is in {history} now: the next one with that history goes by it, too"
    name = "SHARC_HISTORY" if "spider" in facts.settings else "history"
    return f"Captures with {name}=FILE go by what those before them saw"


def _by_script(facts: CaptureFacts) -> Iterator[str]:
    """Most HTML pages show nothing without a browser, or nothing in one."""
    made, read = facts.figures.by_script[True], facts.figures.by_script.total()
    if 2 * made > read:
        if facts.settings.get("browser", "never") == "never":
            why = f"what scripts make is missing: JavaScript is not run. With browser=always it is ({guide('browser')})"
        elif any("not shown by a browser" in note for note in facts.notes):
            why = "not each was shown by a browser, so what scripts make may be missing"
        else:
            why = "a browser that ran the scripts shows no more. What they ask for may be missing"
        pages = f"{made:,} of {counted(read, 'HTML page')} {agreeing(made, 'have')}"
        yield f"{pages} scripts, no links and hardly any text: {why}"


def _whose(facts: CaptureFacts) -> Iterator[str]:
    """What a session shows is not what everybody is shown."""
    whose, vain = facts.settings.get("session"), facts.settings.get("session_cookies")
    if vain:
        yield (
            f"when the capture began, of the cookies of its session ({whose}) {vain}: what was asked for without any"
            " is as anybody is shown it"
        )
    elif whose:
        yield f"requests were made in a session ({whose}), by its cookies for them: others may be shown other pages"
    if facts.settings.get("keep_secrets"):
        yield "its secrets are in WARC requests (keep_secrets=1): end the session before you hand them on"


def _alike(facts: CaptureFacts, captured: int) -> Iterator[str]:
    """Many URLs with one payload: an error page sent with status 200, or one page under many URLs."""
    alike = sorted((number for number in facts.figures.payloads.values() if number >= ALIKE), reverse=True)
    if alike:
        number = sum(alike)
        yield (
            f"{counted(number, 'page')} ({percent(number / captured)}) {agreeing(number, 'are')} copies"
            f" of {len(alike):,}, byte for byte:"
            f" error pages with status 200, or one page under many URLs? Most: {alike[0]:,} as {facts.details.alike}"
        )


def _asked(facts: CaptureFacts, captured: int) -> Iterator[str]:
    """What asks for a password, and what was asked for and looks like an order."""
    if facts.figures.orders or (Kind.PAGE, LOCKED) in facts.figures.missing:
        from sharc_crawler.report.asked import told  # few sites have any

        yield from told(facts, captured)


def _walled(facts: CaptureFacts, captured: int) -> Iterator[str]:
    """Half of the pages and more lead to one page, or to their own addresses with other queries: a wall."""
    found = {} if "spider" in facts.settings else facts.figures.redirects  # a project's middlewares keep cookies
    ends = [(url, target.partition("?")[0]) for url, (kind, _, target) in found.items() if kind is Kind.PAGE]
    places = Counter("their own addresses" if end == url.partition("?")[0] else end for url, end in ends)
    for place, number in places.most_common(1):
        if number >= ALIKE and 2 * number >= captured + len(ends):
            have = (
                "" if facts.settings.get("session") else f"; cookies=FILE captures in a session ({guide('capturing')})"
            )
            yield (
                f"{counted(number, 'page')} redirect to {place}: do they want a cookie, a consent or a log-in? What"
                f" lies behind is not captured, since cookies that a server sets are not sent back{have}"
            )
