"""Masks: parts of a site's pages to ignore, written by hand as XPath or learned, and kept as editable JSON."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from lxml import etree

from sharc_crawler.changes.attributes import PLAIN
from sharc_crawler.changes.noise import blank, texts
from sharc_crawler.errors import MALFORMED, DataError, UsageError

VERSION = 1
TAKEN = "taken"  #: field in a collection's file, see :func:`taken_over`
JUDGED, RULE = "judged", 2  #: field with the rule by which such masks were learned; 2: they differ on half of the pages


@dataclass(frozen=True, slots=True)
class Mask:
    """Elements to ignore: as a whole, or only texts and URLs of theirs that fit a pattern.

    If a pattern has groups, only what these match is ignored.

    >>> Mask("//*[@id='visitors']"), Mask("//footer/p[1]", r"Page [0-9]+ of the day")
    (Mask(path="//*[@id='visitors']", pattern=None), Mask(path='//footer/p[1]', pattern='Page [0-9]+ of the day'))
    """

    path: str  #: XPath expression that selects elements
    pattern: str | None = None  #: regular expression for a whole text with white space folded; None: ignore everything

    def __post_init__(self) -> None:
        _xpath(self.path)
        _regex(self.pattern or "")

    def selects(self, root: Any) -> bool:
        """Does a page have an element that this mask selects, with any content?"""
        return bool(self._elements(root))

    def apply(self, root: Any) -> None:
        """Blank what is to be ignored, in place."""
        for element in self._elements(root):
            if self.pattern is None:
                blank(element)
            else:
                _blank_fitting(element, _regex(self.pattern))

    def _elements(self, root: Any) -> list[Any]:
        try:
            found = _xpath(self.path)(root)
        except etree.XPathError as error:  # an unknown function or variable
            raise UsageError(f"masks={self.path!r} cannot be evaluated: {error}") from error
        if not isinstance(found, list) or not all(isinstance(element, etree._Element) for element in found):
            raise UsageError(
                f"masks={self.path!r} must select elements; an XPath expression like \"//*[@id='visitors']\" does"
            )
        return found


#: characters that a tree may contain, but that cannot be assigned (compiling takes 10 ms, so it is done when needed)
_NO_XML = "[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"


@lru_cache(maxsize=1024)
def _xpath(path: str) -> Any:
    try:
        return etree.XPath(path)
    except etree.XPathSyntaxError as error:
        raise UsageError(f"masks={path!r} is not an XPath expression: {error}") from error


@lru_cache(maxsize=1024)
def _regex(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except re.error as error:
        raise UsageError(f"masks: {pattern!r} is not a regular expression: {error}") from error


def folded(text: str) -> str:
    """Text with white space folded."""
    return " ".join(text.split())


def _blank_fitting(element: Any, pattern: re.Pattern[str]) -> None:
    for holder, where, text in list(texts(element)):
        if fit := pattern.fullmatch(folded(text)):
            setattr(holder, where, f" {_rest(fit)} ")
    for name in PLAIN.keys() & element.keys():
        if fit := pattern.fullmatch(folded(element.get(name))):
            element.set(name, _rest(fit))


def _rest(fit: re.Match[str]) -> str:
    """A text without the parts that vary."""
    spans = sorted(fit.span(group) for group in range(1, fit.re.groups + 1) if fit[group] is not None) or [fit.span()]
    rest, at = [], 0
    for start, end in spans:
        rest.append(fit.string[at : max(at, start)])
        at = max(at, end)
    return re.sub(_NO_XML, "\ufffd", " ".join([*rest, fit.string[at:]]).strip())


def load_masks(path: Path) -> tuple[Mask, ...]:
    """Read a file of masks.

    Raises :class:`~sharc_crawler.errors.UsageError` for a mask that cannot be used, and
    :class:`~sharc_crawler.errors.DataError` for a file that holds none of ours.
    """
    try:
        known = json.loads(path.read_text())
        version, masks = known["version"], [Mask(**mask) for mask in known["masks"]]
    except (OSError, *MALFORMED) as error:
        raise DataError(f"masks={str(path)!r} is no file of masks ({error}); `sharc masks` writes one") from error
    if version != VERSION:
        raise DataError(f"masks={str(path)!r} has version {version}, this program reads {VERSION}; learn them again")
    return tuple(masks)


def described(file: str) -> dict[str, object]:
    """What a capture states of its masks; raises as :func:`load_masks`."""
    path = Path(file)
    masks, taken = load_masks(path), taken_over(path)
    stated: dict[str, object] = {"masks": file, "masks_number": len(masks)}
    stated["masks_sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    return {**stated, "masks_taken": sum(taken.values())} if taken else stated


def taken_over(path: Path) -> dict[str, int]:
    """How many masks of a file were added automatically, by the capture that learned them."""
    found = json.loads(path.read_text()).get(TAKEN)
    found = found if isinstance(found, dict) else {}
    return {name: number for name, number in found.items() if isinstance(number, int)}


def grown(path: Path, learned: Iterable[Mask], by: str, refused: Collection[Mask] | None = None) -> tuple[str, int]:
    """The text of a file of masks with those added that a capture learned, and how many are new.

    Masks in ``refused`` are removed, or not added; ``None``: the existing masks were not judged. Raises as
    :func:`load_masks` if the file exists.
    """
    held = load_masks(path) if path.exists() else ()
    new = [mask for mask in learned if mask not in held and mask not in (refused or ())]
    taken = {**(taken_over(path) if held else {}), by: len(new)}
    kept = [mask for mask in held if mask not in (refused or ())]
    judged = {JUDGED: RULE} if refused is not None or not held or is_judged(path) else {}
    return json.dumps({**as_json((*kept, *new)), TAKEN: taken, **judged}, indent=1) + "\n", len(new)


def is_judged(path: Path) -> bool:
    """Were the automatically added masks of a file judged by the present rule?"""
    return bool(json.loads(path.read_text()).get(JUDGED) == RULE)


def as_json(masks: Iterable[Mask]) -> dict[str, Any]:
    """The JSON object for a file of masks."""
    return {"version": VERSION, "masks": [asdict(mask) for mask in masks]}


def same_content(one: str, other: str) -> bool | None:
    """Are two fingerprints of the same content? ``None``: unknown, as they were made with different masks.

    >>> [same_content("sha1:A", other) for other in ("sha1:A", "sha1:B", "sha1:A+01", "sha1:B+01")]
    [True, False, True, None]
    """
    (content, _, masks), (other_content, _, other_masks) = one.partition("+"), other.partition("+")
    if content == other_content:
        return True
    return False if masks == other_masks else None
