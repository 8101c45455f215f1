"""Masks from fetches of one page that are close together: what differs then is the server's doing, not an edit.

Two trees are walked side by side. Of a text or address that differs only what varied is blanked, between words that
stayed (:mod:`.patterns`). So an edit next to a counter is still seen. Only where texts have nothing in common, or the
elements themselves differ, is an element masked as a whole.

Of each difference there are several masks, since a site's pages differ in their ids and classes (:mod:`.places`);
taken are those that the most pages share. Noise differs on most of the pages that have its element, and each time in
another way; a text that was edited just then, on some of those that show it, and a template that was, everywhere alike.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from heapq import heapify, heappop, heappush
from itertools import islice
from typing import Any, NamedTuple

from sharc_crawler.changes.attributes import ADDRESSES, PLAIN
from sharc_crawler.changes.fingerprint import cleaned, fingerprint, is_html, parse
from sharc_crawler.changes.masks import Mask
from sharc_crawler.changes.noise import plain_text, size
from sharc_crawler.changes.patterns import merged, of_addresses, of_numbers, of_texts, runs
from sharc_crawler.changes.places import Places
from sharc_crawler.plural import agreeing, counted

LARGEST = 0.2  #: share of a page's text that a mask may take as a whole: what is larger is the page itself
MOST = 300  #: places in which a page may differ and still teach: one that differs in more is another page
MOSTLY = 2  #: an element that differs on fewer than one in so many of the pages that have it was edited
NEARLY = 1.25  #: so many where validators stayed as bytes changed: such a server may miss edits as well
FEW = 4  #: and a number in it, where others beside it vary
_WITHOUT_NUMBERS = re.compile(r"[\d\s]+")
_TOLD = 5  #: refused masks that are told of, at most
_ITEMS = 3  #: of a list, at least


class Pair(NamedTuple):
    """Two fetches of one page, content-decoded."""

    old: bytes
    new: bytes
    media_type: str | None  #: ``Content-Type``
    page: str = ""  #: which page: several URLs may show one
    validated: bool = False  #: by its validators nothing differs


class Refused(NamedTuple):
    """A mask that was not learned."""

    mask: Mask
    pages: int  #: that show it
    why: str


ASKING = "a password at the second download, and not at the first"  #: why pages teach nothing


class Lesson(NamedTuple):
    """The masks that pairs of downloads teach, and what they rest on."""

    masks: tuple[Mask, ...]
    refused: tuple[Refused, ...]  #: what else differs, by the pages that show it
    pages: int  #: HTML pages that were compared
    differing: int  #: of these, those that differ in what counts
    edited: int  #: of these, those with a difference that no mask would hide: too large a part, or another link
    modified: int = 0  #: beside these, those that differ and that the server itself calls modified
    asking: int = 0  #: beside these, those that want a password at the second download alone

    def why_no_more(self) -> list[str]:
        """What else differs, and why it is no mask: sentences, of the refused masks the first few."""
        if self.asking:
            rest = self._replace(asking=0).why_no_more() if self.differing else ()
            return [f"At least {counted(self.asking, 'page', 'want')} {ASKING}: has a session ended in between?", *rest]
        if self.modified:
            its = f"that {agreeing(self.modified, 'differ')} the server itself says that each was modified"
            rest = self._replace(modified=0).why_no_more() if self.differing else ()
            return [f"Of {counted(self.modified, 'page')} {its}: edits, no noise.", *rest]
        if not self.pages:
            return ["No page was fetched twice, one soon after the other, and stored here: nothing to compare."]
        if not self.differing:
            return [
                f"Of {counted(self.pages, 'page')} that {agreeing(self.pages, 'were')} fetched twice,"
                f" one soon after the other, none differed in its content: nothing to mask."
            ]
        told = [f"{one.mask.path}: {one.why}." for one in self.refused[:_TOLD]]
        if self.edited:
            what = "too large a part of it for noise, or a link that leads elsewhere"
            told.append(
                f"In {self.edited:,} of {counted(self.differing, 'page')} that"
                f" {agreeing(self.differing, 'differ')}, what differs is {what}."
            )
        return told


class _Difference(NamedTuple):
    """A place in which two fetches of a page differ."""

    page: str
    masks: tuple[Mask, ...]  #: each would hide it; the most telling first; none: an edit by its looks
    shown: tuple[str, str]  #: before and after
    clock: bool  #: there is a clock in it


def learn(pairs: Iterable[Pair], known: Sequence[Mask] = (), support: int = 1, unread: int = 0) -> Lesson:
    """Masks for a site from pairs of fetches, those without a difference among them; and why no others.

    What ``known`` masks blank is not learned again. A new mask must show on at least ``support`` pages, and where on
    several, not in the same way on all of them; its element must differ on half of the pages that have it (on four of
    five where validators say that it does not), a number on a quarter. ``unread`` further pages stayed the same,
    and may have any element.

    >>> one, other = (f"<p id=a>{visits} visits, price 3".encode() for visits in (7, 12))
    >>> learn([Pair(one, other, "text/html")]).masks[0].path
    "//*[@id='a']"
    """
    compared = [pair for pair in pairs if is_html(pair.media_type)]
    differing = [pair for pair in compared if _differs(pair, known)]
    found = {pair: list(_of_pair(pair, known)) for pair in differing}
    differences = [one for each in found.values() for one in each]
    refusals = _Judge(differences, compared, known, support, unread)
    masks = _fewest(differences, lambda mask: not refusals.of(mask))
    learned = _merged(masks)
    left = {pair: each for pair, each in found.items() if _differs(pair, (*known, *learned))}
    return Lesson(
        masks=learned,
        refused=tuple(_refusals([one for each in left.values() for one in each if one.masks], refusals)),
        pages=_pages(compared),
        differing=_pages(differing),
        edited=_pages(pair for pair, each in left.items() if not each or not all(one.masks for one in each)),
    )


def _pages(pairs: Iterable[Pair]) -> int:
    """How many there are: one that was fetched three times makes two pairs."""
    return len({pair.page for pair in pairs})


def _differs(pair: Pair, known: Sequence[Mask]) -> bool:
    old, new, media_type, *_ = pair
    return old != new and fingerprint(old, media_type, known) != fingerprint(new, media_type, known)


def _of_pair(pair: Pair, known: Sequence[Mask]) -> Iterator[_Difference]:
    """What would make the two fetches of a page equal, as far as it can be told."""
    trees = [parse(body, pair.media_type) for body in (pair.old, pair.new)]
    if None in trees:
        return
    old, new = (cleaned(tree, known) for tree in trees)
    found = list(islice(_Walk(old, new).differences(old, new), MOST + 1))
    if len(found) <= MOST:
        yield from (each._replace(page=pair.page) for each in found)


# -- which masks are taken ---------------------------------------------------------------------------------------------


class _Judge:
    """Says of a mask why it is not learned."""

    def __init__(
        self,
        differences: Sequence[_Difference],
        pairs: Sequence[Pair],
        known: Sequence[Mask],
        support: int,
        unread: int,
    ) -> None:
        self._support, self._unread = support, unread
        self._of: dict[Mask, list[_Difference]] = defaultdict(list)
        self._differs: dict[str, set[str]] = defaultdict(set)  # by the masks' paths, whatever their patterns
        for one in differences:
            for mask in one.masks:
                self._of[mask].append(one)
                self._differs[mask.path].add(one.page)
        self._validated = {pair.page for pair in pairs if pair.validated}
        self._pairs, self._known = pairs, known
        self._present: dict[str, int] = {}  # pages that have an element of a mask's path

    def pages(self, mask: Mask) -> set[str]:
        """The pages that show a difference which the mask hides."""
        return {one.page for one in self._of[mask]}

    def of(self, mask: Mask) -> str:
        """Why not; empty: it is learned."""
        pages = self.pages(mask)
        if len(pages) < self._support:
            return f"differs on {counted(len(pages), 'page')} alone; a mask takes {self._support} pages that show it"
        element = self._differs[mask.path]
        differs = pages if mask.pattern and of_numbers(mask.pattern) else element
        mostly = MOSTLY if element.isdisjoint(self._validated) else NEARLY
        if mostly * len(element) < (present := self._pages_with(mask)) or FEW * len(differs) < present:
            have = "have it, or may have it" if self._unread else "have it"
            return f"differs on {len(differs)} of {present} pages that {have}: an edit, as far as can be told"
        shown = {one.shown for one in self._of[mask]}
        if len(pages) > 1 and len(shown) == 1 and not any(one.clock for one in self._of[mask]):
            return f"changed in the same way on {len(pages)} pages: an edit of what they share"
        return ""

    def _pages_with(self, mask: Mask) -> int:
        """How many pages have an element that a mask is of, at most."""
        if mask.path not in self._present:
            read = {page for page, tree in self._trees if mask.selects(tree)}
            self._present[mask.path] = len(read) + self._unread
        return self._present[mask.path]

    @cached_property
    def _trees(self) -> list[tuple[str, Any]]:
        trees = ((pair.page, parse(pair.old, pair.media_type)) for pair in self._pairs)
        return [(page, cleaned(tree, self._known)) for page, tree in trees if tree is not None]


def _fewest(differences: Sequence[_Difference], taken: Callable[[Mask], bool]) -> tuple[Mask, ...]:
    """As few masks as hide all that can be hidden: again and again the one that hides most of what is left.

    What a mask hides of what is left only becomes less: so a mask is counted anew only when its turn comes.
    """
    hides: dict[Mask, list[tuple[int, float]]] = defaultdict(list)
    for number, one in enumerate(differences):
        for place, mask in enumerate(one.masks):
            hides[mask].append((number, 1 - place * 1e-6))  # of equals the most telling
    left, masks = set(range(len(differences))), []
    turns = [(-sum(worth for _, worth in found), turn, mask) for turn, (mask, found) in enumerate(hides.items())]
    heapify(turns)
    while turns and left:
        hidden, turn, mask = heappop(turns)
        now = -sum(worth for number, worth in hides[mask] if number in left)
        if now > hidden:
            if now < 0:
                heappush(turns, (now, turn, mask))
        elif taken(mask):
            masks.append(mask)
            left.difference_update(number for number, _ in hides[mask])
    return tuple(masks)


def _merged(masks: Sequence[Mask]) -> tuple[Mask, ...]:
    """One mask for those of one place that are alike but for the numbers that vary: blanked in turn, one hid others."""
    of_path: dict[str, list[str]] = defaultdict(list)
    for mask in masks:
        if mask.pattern is not None:
            of_path[mask.path].append(mask.pattern)
    whole = [mask for mask in masks if mask.pattern is None]
    return (*(Mask(path, one) for path, patterns in of_path.items() for one in merged(patterns)), *whole)


def _refusals(left: Sequence[_Difference], judge: _Judge) -> Iterator[Refused]:
    """For each place that stays visible, the mask that most pages show."""
    firsts = Counter(max(one.masks, key=lambda mask: len(judge.pages(mask))) for one in left)
    of_place: dict[str, Mask] = {}
    for mask, _ in firsts.most_common():
        of_place.setdefault(mask.path, mask)
    for mask in of_place.values():
        if why := judge.of(mask):
            yield Refused(mask, len(judge.pages(mask)), why)


# -- what differs ------------------------------------------------------------------------------------------------------

_Part = tuple[list[str], str, str]  #: patterns, before, after


class _Walk:
    """Two cleaned trees of a page, side by side."""

    def __init__(self, old: Any, new: Any) -> None:
        self._places = Places()
        self._largest = [LARGEST * size(tree.getroottree().getroot()) for tree in (old, new)]

    def differences(self, old: Any, new: Any) -> Iterator[_Difference]:
        """All in which two elements differ, as far as it can be told."""
        if [child.tag for child in old] != [child.tag for child in new]:
            if _visible(old) != _visible(new):
                yield from self._whole(old, new)
            return
        if _rotates(old, new) and (whole := list(self._whole(old, new))):
            yield from whole
            return
        texts = list(self._texts(old, new))
        if not all(patterns for patterns, _, _ in texts):
            yield from self._whole(old, new)
            return
        parts = [*texts, *_attributes(old, new)]
        if parts:
            places = self._places.paths(old, new)
            for patterns, before, after in parts:
                masks = tuple(Mask(path, pattern) for pattern in patterns for path in places)
                yield _Difference("", masks, (before, after), runs(before))
        for one, other in zip(old, new, strict=True):
            yield from self.differences(one, other)

    def _whole(self, old: Any, new: Any) -> Iterator[_Difference]:
        """A mask for an element as a whole, unless it is too large a part of its page in either."""
        if all(size(element) <= most for element, most in zip((old, new), self._largest, strict=True)):
            before, after = (" ".join(map(str, _visible(element))) for element in (old, new))
            yield _Difference("", tuple(map(Mask, self._places.paths(old, new))), (before, after), runs(before))

    def _texts(self, old: Any, new: Any) -> Iterator[_Part]:
        """Patterns for an element's own texts that differ, piece by piece; none for one that has no pattern."""
        pieces = [(old.text, new.text)] + [(one.tail, other.tail) for one, other in zip(old, new, strict=True)]
        for one, other in pieces:
            before, after = (plain_text(piece or "") for piece in (one, other))
            if before != after:
                yield self._small(of_texts(one or "", other or ""), before, after), before, after

    def _small(self, patterns: list[str], before: str, after: str) -> list[str]:
        """The patterns, without those that let any words vary where these are too large a part of the page."""
        large = max(len("".join(text.split())) for text in (before, after)) > self._largest[0]
        return [pattern for pattern in patterns if not (large and "(.*)" in pattern)]


def _rotates(old: Any, new: Any) -> bool:
    """Whether a list shows other items each time: hardly one that stayed, where a list that has grown keeps most."""
    if len(old) < _ITEMS or len({child.tag for child in old}) > 1:
        return False
    before, after = ({_WITHOUT_NUMBERS.sub("", " ".join(child.itertext())) for child in tree} for tree in (old, new))
    return 2 * len(before & after) < len(before)


def _visible(element: Any) -> tuple[Any, ...]:
    found = [PLAIN[name](value) for each in element.iter() for name, value in each.items() if name in PLAIN]
    return plain_text(" ".join(element.itertext())), *found


def _attributes(old: Any, new: Any) -> Iterator[_Part]:
    for name in sorted(PLAIN.keys() & {*old.keys(), *new.keys()}):
        one, other = old.get(name, ""), new.get(name, "")
        before, after = PLAIN[name](one), PLAIN[name](other)
        if before != after:
            ways = of_addresses(one, other) if name in ADDRESSES else [of_texts(one, other) or ["(.*)"]]
            yield from ((patterns, before, after) for patterns in ways)
