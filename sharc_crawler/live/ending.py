"""| What a crawl leaves behind: judged seeds, report, certificate, package. Loaded when the crawl ends."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from sharc_crawler.certificate.writing import certify, lines
from sharc_crawler.errors import SharcError
from sharc_crawler.evidence.facts import LEARNED, NOTHING_TAUGHT, SUPPORT, CaptureFacts, Taught
from sharc_crawler.evidence.measures import Content
from sharc_crawler.live.monitoring.stopping import StoppedError
from sharc_crawler.report.load import capture_facts, is_instant
from sharc_crawler.report.pages import Walked
from sharc_crawler.report.terminal import summary
from sharc_crawler.report.words import collected, next_line
from sharc_crawler.report.write import write
from sharc_crawler.seeds import SELECTION
from sharc_crawler.storage.folders import site_folders
from sharc_crawler.storage.opening import USUAL

if TYPE_CHECKING:
    from sharc_crawler.changes.masks import Mask
    from sharc_crawler.live.config import Config
    from sharc_crawler.live.monitoring.busy import Share
    from sharc_crawler.live.seeding import Judging
    from sharc_crawler.model import Verdict
    from sharc_crawler.state.store import FrontierStore

    Tell = Callable[..., None]  #: as a Share
    Left = tuple[str, bool, Counter[Verdict | None]]
    End = Callable[[Tell], Left]
    Problem = OSError | SharcError


class EndSummary(NamedTuple):
    """The result of writing the end of a crawl."""

    summary: str  #: text for readers
    unwritten: list[Problem]  #: errors of sites whose ends could not be written
    refuted: bool  #: the WARC records contradict a capture
    verdicts: Mapping[Verdict | None, int]  #: of all pages; ``None``: not captured


def leave(
    left: Iterable[tuple[Path, Callable[[], FrontierStore]]],
    output: Path,
    stopped: str,
    config: Config,
    share: Share,
    lost: Mapping[str, Exception] = MappingProxyType({}),
) -> EndSummary:
    """Write the ends of all captures. ``left``: their folders, each with a function that opens its store.

    ``stopped``: why the crawl was stopped early, or ""; ``share``: is told the progress; ``lost``: errors of sites that
    could not go on while others did.
    """
    judging, sites = _judging(output), site_folders(output) or {}

    def begun(folder: Path, ready: Callable[[], FrontierStore]) -> End:
        store = ready()
        if judging:
            judging.add(store)
        if judging and folder == output:
            judging.end()
        return partial(_leave, store, folder, stopped, config, told=not sites)

    beginnings = (partial(begun, *one) for one in left)
    if len(sites) > 1:
        from sharc_crawler.live.site_ends import in_threads, in_turn  # only for many sites

        part = "writing reports and certificates of the sites"
        together = in_threads if config.store == USUAL else in_turn  # another store may not support threads
        ends: list[Left | Problem] = list(together(beginnings, _tried, lambda begun: share(begun, len(sites), part)))
    else:
        ends = [_tried(lambda begin: begin()(share), begin) for begin in beginnings]
    unwritten = [end for end in ends if not isinstance(end, tuple)]
    written = [end for end in ends if isinstance(end, tuple)]
    refuted, verdicts = any(found for _, found, _ in written), sum((own for *_, own in written), Counter())
    if not sites:
        return EndSummary("".join(text for text, *_ in written), unwritten, refuted, verdicts)
    from sharc_crawler.report.sites import write_index  # only if there are several

    if judging:
        judging.end()
    text = write_index(output, stopped, {site: str(error) for site, error in lost.items()})
    return EndSummary(text, unwritten, refuted, verdicts)


def _tried(call: Callable[..., Any], *given: object) -> Any:
    """The result of a call, or the error that it raised."""
    try:
        return call(*given)
    except StoppedError:
        raise
    except (OSError, SharcError) as error:
        return error


def _judging(output: Path) -> Judging | None:
    """Judges the ranked seeds, if there are any."""
    if not (output / SELECTION).exists():
        return None
    from sharc_crawler.live.seeding import judging  # loads readers of archives: only if seeds were ranked

    return judging(output)


def _leave(store: FrontierStore, folder: Path, stopped: str, config: Config, share: Tell, *, told: bool) -> Left:
    """Write the end of a folder: its summary ("" unless ``told``), whether it is refuted, its verdicts."""
    captures = store.captures()
    if all(capture.spec.mode == "survey" for capture in captures.values()):
        return "", False, Counter()  # nothing was captured
    walked = Walked(store, partial(share, part="writing the report"))
    facts = capture_facts(walked)
    if is_instant(captures):
        from sharc_crawler.report.instant.output import write as write_instant  # only for instant crawls

        text = write_instant(store.load(), folder, stopped)
        more = _handed_over(facts, folder, config, certified=False)
        return text + "".join(f"  {name:<12} {path}\n" for name, path in more), False, Counter()
    if (taught := _taught(facts, folder, config.masks)) != NOTHING_TAUGHT:
        facts = capture_facts(walked, taught=taught)
    paths = write(facts, folder)
    verifying = partial(share, part="checking the certificate")
    made = certify(facts, folder, verifying)
    if any(certificate.findings for certificate in made):
        from sharc_crawler.report.refuted import settle  # only if report and certificate disagree

        facts, made = settle(facts, folder, made)
    found = any(certificate.findings for certificate in made)
    whole = all(one.ended for one in facts) and any(folder.glob("certificate*.json"))  # else nothing to verify
    following = ["sharc", "verify", str(folder)] if whole else []
    if found:
        from sharc_crawler.report.refuted import again  # only then, too

        following = again(facts[0].settings, facts[0].seeds, str(folder))
    more = [*lines(made), *_handed_over(facts, folder, config)]
    verdicts = sum((one.figures.whole.tally.verdicts for one in facts), Counter())
    if not told:
        return "", found, verdicts
    text = summary(facts, paths, more, stopped)
    empty = not (+verdicts).keys() - {None} and "spider" not in facts[0].settings
    text += _next_time(store, folder, empty=empty) if whole else ""
    return text + (f"{next_line(*following)}\n" if following else ""), found, verdicts


def _next_time(store: FrontierStore, folder: Path, *, empty: bool) -> str:
    """What the same command does next time, unless it is simply refused."""
    if empty:
        from sharc_crawler.storage.trying_again import unreached  # only if no page was captured

        if unreached(store.load()):
            return "Nobody answered. Run the same command to try again in the same folder.\n"
    return (
        "To capture the site again in its collection, run the same command. It learns from this capture.\n"
        if collected(folder)
        else ""
    )


def _taught(facts: list[CaptureFacts], folder: Path, masks: str | None) -> Taught:
    """The masks that the captures teach where pages changed."""
    changed = sum(one.figures.whole.tally.content[Content.CHANGED] for one in facts)
    if changed < SUPPORT and not (folder / LEARNED).exists():
        return NOTHING_TAUGHT
    from sharc_crawler.report.mask_candidates import teach  # reads all pages

    return teach(facts, folder, _masks(masks) if masks else ())


def _masks(file: str) -> tuple[Mask, ...]:
    from sharc_crawler.changes.masks import load_masks  # only if there are some

    return tuple(load_masks(Path(file)))


def _handed_over(
    facts: list[CaptureFacts], folder: Path, config: Config, *, certified: bool = True
) -> list[tuple[str, str]]:
    """Sign, stamp and package as wanted; returns lines for the summary."""
    if not (config.sign or config.timestamp or config.wacz):
        return []
    from sharc_crawler.live.handing_over import packaged, sealed

    return [*(sealed(folder, config) if certified else ()), *packaged(facts, folder, config)]
