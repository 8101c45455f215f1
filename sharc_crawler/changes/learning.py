"""Masks from fetches of one page that are close together: what differs then is the server's doing, not an edit.

Two trees are walked side by side. A text or address that differs is masked as narrowly as two examples allow: its words
that stayed must stay, those that varied may vary in their kind (a number, or anything). So an edit next to a counter is
still seen. Only where the number of words, or the elements themselves, differ is an element masked as a whole.

Of many pages, noise differs on many of those that have its element; a title that was edited just then, on the few that
show it.
"""

from __future__ import annotations

import re
from collections import defaultdict
from itertools import takewhile
from typing import TYPE_CHECKING, Any, NamedTuple

from sharc_crawler.changes.attributes import PLAIN
from sharc_crawler.changes.fingerprint import cleaned, fingerprint, is_html, parse
from sharc_crawler.changes.masks import Mask, folded
from sharc_crawler.changes.noise import plain_text, size

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

LARGEST = 0.2  #: share of a page's text that a mask may take as a whole: what is larger is the page itself
_WITHOUT_NUMBERS = re.compile(r"[\d\s]+")
_ITEMS = 3  #: of a list, at least
_CLOCK = re.compile(r"\d{1,2}(?::\d|h\d|[時时点點시])")
#: what makes words next to a clock a date, in whatever language: its year, or all of it in figures
_DATED = re.compile(r"(?<!\d)(?:(?:19|20)\d\d(?!\d)|\d{1,2}[./-]\d{1,2}[./-])")
_DAY = re.compile(r"\d{1,2}\W*")
_JOINT = 3  #: letters at most of what joins the parts of a date (de, of, г.) and is not one
_NUMBER = r"\d[\d.,:/'+-]*"
_SIGN = "[+\u2212-]?"
_NUMBERS = re.compile(f"({_SIGN}{_NUMBER})")
#: an id (or one that XPath cannot quote) that other pages of the site will not have: post-1234
_OF_ONE_PAGE = re.compile(r"\d\d|'")
#: a word of a date: where a clock runs in a text, its date will not stand still either
_CALENDAR = re.compile(
    r"\W*(?:(?:at|on|of|the)|[\d./-]*\d(?:st|nd|rd|th)?|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?"
    r"|jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?|[ap]\.?m\.?)\W*",
    re.IGNORECASE,
)
#: names of elements that stand in an XPath expression as they are
_SPELLABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")


class Pair(NamedTuple):
    """Two fetches of one page, content-decoded."""

    old: bytes
    new: bytes
    media_type: str | None  #: ``Content-Type``
    page: str = ""  #: which page: several URLs may show one


def learn_masks(pairs: Iterable[Pair], known: Sequence[Mask] = (), support: int = 1) -> tuple[Mask, ...]:
    """Masks for a site from pairs of fetches, those without a difference among them.

    What ``known`` masks blank is not learned again. A new mask must show on at least ``support`` pages; its element
    must differ on a quarter of the pages that have it (a rotating text is now and then the same), and where only
    numbers vary (a counter, or the edition in a title) the mask itself must show on half.

    >>> one, other = (f"<p id=a>{visits} visits, price 3".encode() for visits in (7, 12))
    >>> learn_masks([Pair(one, other, "text/html")])[0].path
    "//*[@id='a']"
    """
    compared = [pair for pair in pairs if is_html(pair.media_type)]
    shown: dict[Mask, set[str]] = defaultdict(set)
    differs: dict[str, set[str]] = defaultdict(set)  # by the masks' paths, whatever their patterns
    for pair in compared:
        for mask in _masks_of(pair, known):
            shown[mask].add(pair.page)
            differs[mask.path].add(pair.page)
    candidates = [mask for mask, paths in shown.items() if len(paths) >= support]
    present = _present(candidates, compared, known)
    enough = {
        mask: 2 * len(shown[mask]) >= len(present[mask])
        if _of_numbers(mask)
        else 4 * len(differs[mask.path]) >= len(present[mask])
        for mask in candidates
    }
    return tuple(mask for mask in candidates if enough[mask])


def _of_numbers(mask: Mask) -> bool:
    """Whether a mask lets nothing vary but numbers."""
    return mask.pattern is not None and r"\S+" not in mask.pattern and ".*" not in mask.pattern


def _masks_of(pair: Pair, known: Sequence[Mask]) -> set[Mask]:
    """What would make the two fetches of a page equal, as far as it can be told."""
    old, new, media_type, _ = pair
    if old == new or fingerprint(old, media_type, known) == fingerprint(new, media_type, known):
        return set()
    trees = [parse(body, media_type) for body in (old, new)]
    return set() if None in trees else set(_differences(*(cleaned(tree, known) for tree in trees)))


def _present(masks: Sequence[Mask], pairs: Iterable[Pair], known: Sequence[Mask]) -> dict[Mask, set[str]]:
    """The pages that have an element which a mask is of."""
    found: dict[Mask, set[str]] = defaultdict(set)
    for pair in pairs if masks else ():
        tree = parse(pair.old, pair.media_type)
        if tree is not None:
            cleaned(tree, known)
            for mask in masks:
                if mask.selects(tree):
                    found[mask].add(pair.page)
    return found


def _differences(old: Any, new: Any) -> Iterator[Mask]:
    """Masks for all in which two cleaned trees differ, as far as they can be told."""
    if [child.tag for child in old] != [child.tag for child in new]:
        if _visible(old) != _visible(new):
            yield from _whole(old, new)
        return
    if _rotates(old, new) and (whole := list(_whole(old, new))):
        yield from whole
        return
    masks = [*_texts(old, new), *_attributes(old, new)]
    if None in masks:
        yield from _whole(old, new)
        return
    yield from (Mask(_path(old, new), pattern) for pattern in masks)
    for one, other in zip(old, new, strict=True):
        yield from _differences(one, other)


def _rotates(old: Any, new: Any) -> bool:
    """Whether a list shows other items each time: hardly one that stayed, where a list that has grown keeps most."""
    if len(old) < _ITEMS or len({child.tag for child in old}) > 1:
        return False
    before, after = ({_WITHOUT_NUMBERS.sub("", " ".join(child.itertext())) for child in tree} for tree in (old, new))
    return 2 * len(before & after) < len(before)


def _visible(element: Any) -> tuple[Any, ...]:
    found = [PLAIN[name](value) for each in element.iter() for name, value in each.items() if name in PLAIN]
    return plain_text(" ".join(element.itertext())), *found


def _whole(old: Any, new: Any) -> Iterator[Mask]:
    """A mask for an element as a whole, unless it is too large a part of its page in either."""
    if all(size(element) <= LARGEST * size(element.getroottree().getroot()) for element in (old, new)):
        yield Mask(_path(old, new))


def _texts(old: Any, new: Any) -> Iterator[str | None]:
    """Patterns for an element's own texts, piece by piece; ``None`` for one that has no pattern."""
    pieces = [(old.text, new.text)] + [(one.tail, other.tail) for one, other in zip(old, new, strict=True)]
    for one, other in pieces:
        if plain_text(one or "") != plain_text(other or ""):
            yield _pattern(folded(one or "").split(), folded(other or "").split())


def _attributes(old: Any, new: Any) -> Iterator[str | None]:
    for name in PLAIN.keys() & {*old.keys(), *new.keys()}:
        one, other = old.get(name, ""), new.get(name, "")
        if PLAIN[name](one) != PLAIN[name](other):
            yield _varied_address(one, other)


def _pattern(old: list[str], new: list[str]) -> str | None:
    """What fits both texts: equal words as they are, others by their kind."""
    if len(old) != len(new):
        return None
    dates = _dates(old, [one != other for one, other in zip(old, new, strict=True)])
    return " ".join(
        _varied(one, other) if one != other else r"\S+" if date else re.escape(one)
        for one, other, date in zip(old, new, dates, strict=True)
    )


def _dates(words: list[str], differ: list[bool]) -> list[bool]:
    """Which words belong to the date of a clock that runs."""
    clocks = [i for i, word in enumerate(words) if differ[i] and _CLOCK.search(word)]
    dates = {i for clock in clocks for step in (1, -1) for i in _beside(words, clock, step)}
    return [i in dates or i in clocks for i in range(len(words))]


def _beside(words: list[str], clock: int, step: int) -> list[int]:
    """The words of the date on one side of a clock: numbers with the names between them, and a name at the end."""
    order = range(clock + step, len(words) if step > 0 else -1, step)
    calendar = list(takewhile(lambda i: _CALENDAR.fullmatch(words[i]), order))
    numbers, names = 0, 0
    for met, i in enumerate(order, 1):
        if any(map(str.isdigit, words[i])):
            numbers, names = met, 0
        else:
            names += len(words[i]) > _JOINT
        if names > 1:
            break
    date = list(order[:numbers])
    if not any(_DATED.search(words[i]) for i in date):
        named = step < 0 and any(words[i].strip(",.").isalpha() for i in calendar)
        return [i for i in calendar if named or not words[i].strip(",.").isdigit()]
    weekday = order[numbers : numbers + 1] if step < 0 and _DAY.fullmatch(words[date[-1]]) else ()
    return [*calendar, *date, *(i for i in weekday if not words[i].endswith(":"))]


def _varied(one: str, other: str) -> str:
    """The numbers that differ, between what surrounds them in both; or any word."""
    first, second = _NUMBERS.split(one), _NUMBERS.split(other)
    if first[::2] != second[::2]:
        return r"\S+"
    running = _CLOCK.search(one)  # of a clock all may differ tomorrow
    return "".join(
        _number(part) if i % 2 and (running or part != second[i]) else re.escape(part) for i, part in enumerate(first)
    )


def _number(example: str) -> str:
    return _NUMBER if example[0].isdigit() else _SIGN + _NUMBER


def _varied_address(one: str, other: str) -> str:
    """Equal up to the last delimiter before what differs and from the first one behind it."""
    start = _common(one, other)
    room = min(len(one), len(other)) - start
    end = min(_common(one[::-1], other[::-1]), room)
    return f"{re.escape(one[:start])}.*{re.escape(one[len(one) - end :])}"


def _common(one: str, other: str) -> int:
    """Length of the longest common beginning that ends with a delimiter."""
    pairs = enumerate(zip(one, other, strict=False))
    length = next((i for i, (a, b) in pairs if a != b), min(len(one), len(other)))
    return 1 + max(one.rfind(delimiter, 0, length) for delimiter in "/?&=;#-_.")


def _path(old: Any, new: Any) -> str:
    """Where an element is: below the nearest element with an id that stays, or below the root."""
    steps: list[str] = []
    while old is not None and new is not None:
        name = old.get("id")
        stays = name and name == new.get("id") and old.tag != "body"
        if stays and "'" not in name and not _OF_ONE_PAGE.search(name):
            return "/".join([f"//*[@id='{name}']", *reversed(steps)])
        steps.append(_step(old, new))
        old, new = old.getparent(), new.getparent()
    return "/" + "/".join(reversed(steps))


def _step(old: Any, new: Any) -> str:
    """One step of a path; an element whose name XPath cannot spell (``<im=>``) is told by its place alone."""
    if _SPELLABLE.fullmatch(old.tag):
        return f"{old.tag}[{_place(old, new)}]"
    return f"*[{1 + sum(1 for _ in old.itersiblings(preceding=True))}]"


def _place(old: Any, new: Any) -> str:
    """What tells an element from its siblings on other pages too: its class, else its place from the nearer end."""
    before, after = (list(old.itersiblings(old.tag, preceding=preceding)) for preceding in (True, False))
    name = old.get("class")
    if name and name == new.get("class") and "'" not in name and all(e.get("class") != name for e in before + after):
        return f"@class='{name}'"
    if len(after) < len(before):
        return f"last()-{len(after)}" if after else "last()"
    return str(len(before) + 1)
