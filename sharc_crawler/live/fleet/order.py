"""| Makes a capture of a site in the ledger: its arguments are those of ``scrapy crawl site``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.archive.warc_names import safe_name
from sharc_crawler.errors import UsageError
from sharc_crawler.instants import iso
from sharc_crawler.live.setup.arguments import Arguments
from sharc_crawler.live.setup.operator import private_seeds
from sharc_crawler.live.wire.addresses import AddressRules
from sharc_crawler.model import HowMade, Instant, Seconds
from sharc_crawler.options.reading import ARGUMENTS
from sharc_crawler.options.table import NEWS, SEEDS, SHOWN
from sharc_crawler.state.rows import SOLE, Batch
from sharc_crawler.state.spec import BOUNDS, CaptureSpec

if TYPE_CHECKING:
    from sharc_crawler.fleet.ledger import Tenure
    from sharc_crawler.live.config import Config

IN_LEDGER = "the fleet's ledger"  #: where workers share a history
#: arguments of one crawl alone, or that a worker decides; workers hold no sessions and have no browsers
_NOT_HERE = {"seeds", "output", "collection", "dry_run", "resume", "control"}
_NOT_HERE |= {"cookies", "state", "netrc", "session", "keep_secrets"}
_SETTINGS_TOO = {"strategy", "delay", *BOUNDS}  #: arguments that are settings, too, and that a site may have
OF_SITES = frozenset(
    name
    for name, row in ARGUMENTS.items()
    if name not in _NOT_HERE
    and row.section not in (SEEDS, NEWS, SHOWN)
    and (row.setting is None or name in _SETTINGS_TOO)
)


def check_names(names: Iterable[str]) -> None:
    """Raise :class:`~sharc_crawler.errors.UsageError` for an argument that a site cannot have."""
    for name in names:
        if name in ARGUMENTS and name not in OF_SITES:
            setting = None if name in {*_NOT_HERE, "objects"} else ARGUMENTS[name].setting
            way_out = f"give it to the workers, as in -s {setting}=…" if setting else "leave it out"
            raise UsageError(f"{name}: a site of a fleet has none of its own; {way_out}")


def ordered(
    arguments: Mapping[str, str], config: Config, *, shares_history: bool = False, masks: Path | None = None
) -> tuple[CaptureSpec, Arguments]:
    """The capture that a site's arguments ask for; raises UsageError. ``masks``: the file of masks from the ledger."""
    check_names(arguments)
    given = Arguments.parse(dict(arguments))
    specs = given.specs(str(given.settings.get("SHARC_STRATEGY", config.strategy)), {}, config)
    if len(specs) != 1:
        raise UsageError(f"url={arguments['url']!r} names {len(specs)} sites; add each of them")
    delay = delay_of(given, config)
    history = IN_LEDGER if shares_history else config.history or ""
    settings = {"delay": delay, "masks": config.masks or "", "history": history, **_masks(config, masks)}
    return replace(specs[0], settings=settings), given


def _masks(config: Config, own: Path | None) -> dict[str, object]:
    """What a capture states of its masks."""
    held = own is not None and own.exists()
    if not (held or config.masks):
        return {}
    from sharc_crawler.changes.masks import described  # only if there are some

    return {**described(str(own)), "masks": IN_LEDGER} if held else described(config.masks or "")


def delay_of(given: Arguments, config: Config) -> float:
    """The delay between two requests to a host of a site."""
    return float(given.options.delay if "delay" in _given_settings(given) else config.politeness.delay)


def _given_settings(given: Arguments) -> set[str]:
    return {name for name, row in ARGUMENTS.items() if row.setting in given.settings}


def folder_of(output: Path, tenure: Tenure) -> Path:
    """The folder of a site's capture; further rounds have folders of their own."""
    suffix = f"-round-{tenure.round}" if tenure.round > 1 else ""
    return output / f"{safe_name(tenure.site)}{suffix}"


def run_of(tenure: Tenure) -> str:
    """The run of this owner's WARC files: no two owners write one file.

    >>> from sharc_crawler.fleet.ledger import Tenure, Wish
    >>> run_of(Tenure("a", {}, 1, 7, 0, Wish.RUN, 0.0, None))
    'round-1.epoch-0007'
    """
    return f"round-{tenure.round}.epoch-{tenure.epoch:04d}"


def check_addresses(spec: CaptureSpec, config: Config) -> None:
    """Raise UsageError for private seeds that the worker's settings do not allow."""
    rules = AddressRules.of(config.allowed_addresses)
    for url in spec.seeds:
        if refused := [address for address in private_seeds([url]) if rules.refusal(address)]:
            raise UsageError(
                f"url={url!r} is a private address ({', '.join(refused)}); if it is meant, allow it to the workers:"
                f" -s SHARC_ALLOWED_ADDRESSES={','.join([*config.allowed_addresses, *refused])}"
            )


def continued(state: Batch, run: str, note: str) -> Batch:
    """The state of former owners, as this one continues it."""
    row = state.captures[SOLE]
    spec = replace(row.spec, settings={**row.spec.settings, "run": run})
    captures = {SOLE: row._replace(spec=spec, notes=(*row.notes, note))}
    return replace(state, captures=captures, links=[])


def epoch_note(tenure: Tenure, worker: str, skew: Seconds, now: Instant) -> HowMade:
    """The note on an owner in report and certificate."""
    clock = f"{abs(skew):.1f} s {'ahead of' if skew > 0 else 'behind'} the fleet's, by which times are told"
    came = f"epoch {tenure.epoch} of this site from {iso(now)}: worker {worker}, its clock {clock}"
    return HowMade(f"{came}; worker {tenure.former} had not been heard of" if tenure.former else came)
