"""Learn masks from downloads of a page in short succession: what differs between them is noise, not an edit.

Two trees are walked side by side. In a differing text or URL, only the part that varies is masked, between words that
stayed (:mod:`.patterns`), so that an edit next to a counter is still noticed. An element is masked as a whole only if
texts have nothing in common, or its child elements differ.

For each difference there are several candidate masks, as pages of a site differ in ids and classes (:mod:`.places`);
the masks that most pages share are chosen. Noise differs on most pages that have its element, each time in another way.
A text that was just edited differs on few of these pages; an edited template differs in the same way everywhere.
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

LARGEST = 0.2  #: most of a page's text that a mask may hide as a whole: a larger part is the page itself
MOST = 300  #: most differences of a page that is learned from: with more it is another page
MOSTLY = 2  #: noise differs on at least one in this many of the pages with its element
NEARLY = 1.25  #: the same if validators stayed while bytes changed: such a server may miss edits, too
FEW = 4  #: the same for a single number, if others in the element vary
_WITHOUT_NUMBERS = re.compile(r"[\d\s]+")
_TOLD = 5  #: most refused masks that are reported
_ITEMS = 3  #: least items of a list


class Pair(NamedTuple):
    """Two downloads of a page, unpacked."""

    old: bytes
    new: bytes
    media_type: str | None  #: ``Content-Type``
    page: str = ""  #: which page it is: several URLs may show the same one
    validated: bool = False  #: are its validators the same?


class Refused(NamedTuple):
    """A mask that was not learned."""

    mask: Mask
    pages: int  #: number of pages that show it
    why: str


ASKING = "a password at the second download, and not at the first"  #: reason why pages are not learned from


class Lesson(NamedTuple):
    """The masks learned from pairs of downloads, with statistics."""

    masks: tuple[Mask, ...]
    refused: tuple[Refused, ...]  #: other differences, most common first
    pages: int  #: number of HTML pages compared
    differing: int  #: of these, pages whose content differs
    edited: int  #: of these, pages with a difference that no mask could hide: too large, or another link
    modified: int = 0  #: further pages that differ, and that the server calls modified
    asking: int = 0  #: further pages that ask for a password at the second download only

    def why_no_more(self) -> list[str]:
        """Sentences on other differences, and why they were not masked."""
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
    """A difference between two downloads of a page."""

    page: str
    masks: tuple[Mask, ...]  #: candidates, each of which would hide it, best first; empty: it looks like an edit
    shown: tuple[str, str]  #: text before and after
    clock: bool  #: does it contain a time of day?


def learn(pairs: Iterable[Pair], known: Sequence[Mask] = (), support: int = 1, unread: int = 0) -> Lesson:
    """Learn masks for a site from pairs of downloads, which should include pages that stayed the same.

    What ``known`` masks hide is not learned again. A new mask must hide a difference on at least ``support`` pages, and
    not the same one on several pages. Its element must differ on half of the pages that have it (on four in five if
    validators stayed the same), a number on a quarter. ``unread`` further pages stayed the same; they may have any
    element.

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
    """The number of distinct pages; three downloads of a page make two pairs."""
    return len({pair.page for pair in pairs})


def _differs(pair: Pair, known: Sequence[Mask]) -> bool:
    old, new, media_type, *_ = pair
    return old != new and fingerprint(old, media_type, known) != fingerprint(new, media_type, known)


def _of_pair(pair: Pair, known: Sequence[Mask]) -> Iterator[_Difference]:
    """The differences between the two downloads of a page; none if they are too many."""
    trees = [parse(body, pair.media_type) for body in (pair.old, pair.new)]
    if None in trees:
        return
    old, new = (cleaned(tree, known) for tree in trees)
    found = list(islice(_Walk(old, new).differences(old, new), MOST + 1))
    if len(found) <= MOST:
        yield from (each._replace(page=pair.page) for each in found)


# -- choosing masks ----------------------------------------------------------------------------------------------------


class _Judge:
    """Decides which masks may be learned."""

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
        self._differs: dict[str, set[str]] = defaultdict(set)  # path of masks → pages that differ there
        for one in differences:
            for mask in one.masks:
                self._of[mask].append(one)
                self._differs[mask.path].add(one.page)
        self._validated = {pair.page for pair in pairs if pair.validated}
        self._pairs, self._known = pairs, known
        self._present: dict[str, int] = {}  # path → number of pages that have such an element

    def pages(self, mask: Mask) -> set[str]:
        """The pages with a difference that the mask hides."""
        return {one.page for one in self._of[mask]}

    def of(self, mask: Mask) -> str:
        """Why a mask is refused; empty: it may be learned."""
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
        """The most pages that may have a mask's element."""
        if mask.path not in self._present:
            read = {page for page, tree in self._trees if mask.selects(tree)}
            self._present[mask.path] = len(read) + self._unread
        return self._present[mask.path]

    @cached_property
    def _trees(self) -> list[tuple[str, Any]]:
        trees = ((pair.page, parse(pair.old, pair.media_type)) for pair in self._pairs)
        return [(page, cleaned(tree, self._known)) for page, tree in trees if tree is not None]


def _fewest(differences: Sequence[_Difference], taken: Callable[[Mask], bool]) -> tuple[Mask, ...]:
    """Choose few masks that hide all differences, greedily: each time the one that hides most of the remaining ones.

    The number of remaining differences of a mask only decreases, so it is recounted only when the mask is next.
    """
    hides: dict[Mask, list[tuple[int, float]]] = defaultdict(list)
    for number, one in enumerate(differences):
        for place, mask in enumerate(one.masks):
            hides[mask].append((number, 1 - place * 1e-6))  # prefers better masks among equal ones
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
    """Merge masks with the same path that differ only in which numbers vary; applied in turn, one would hide others."""
    of_path: dict[str, list[str]] = defaultdict(list)
    for mask in masks:
        if mask.pattern is not None:
            of_path[mask.path].append(mask.pattern)
    whole = [mask for mask in masks if mask.pattern is None]
    return (*(Mask(path, one) for path, patterns in of_path.items() for one in merged(patterns)), *whole)


def _refusals(left: Sequence[_Difference], judge: _Judge) -> Iterator[Refused]:
    """For each path that still differs, the refused mask of most pages."""
    firsts = Counter(max(one.masks, key=lambda mask: len(judge.pages(mask))) for one in left)
    of_place: dict[str, Mask] = {}
    for mask, _ in firsts.most_common():
        of_place.setdefault(mask.path, mask)
    for mask in of_place.values():
        if why := judge.of(mask):
            yield Refused(mask, len(judge.pages(mask)), why)


# -- finding differences -----------------------------------------------------------------------------------------------

_Part = tuple[list[str], str, str]  #: patterns, before, after


class _Walk:
    """Walks two cleaned trees of a page side by side."""

    def __init__(self, old: Any, new: Any) -> None:
        self._places = Places()
        self._largest = [LARGEST * size(tree.getroottree().getroot()) for tree in (old, new)]

    def differences(self, old: Any, new: Any) -> Iterator[_Difference]:
        """The differences between two elements."""
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
        """A difference of an element as a whole, unless it is too large a part of its page."""
        if all(size(element) <= most for element, most in zip((old, new), self._largest, strict=True)):
            before, after = (" ".join(map(str, _visible(element))) for element in (old, new))
            yield _Difference("", tuple(map(Mask, self._places.paths(old, new))), (before, after), runs(before))

    def _texts(self, old: Any, new: Any) -> Iterator[_Part]:
        """Patterns for each differing piece of an element's own text; empty if there is no pattern."""
        pieces = [(old.text, new.text)] + [(one.tail, other.tail) for one, other in zip(old, new, strict=True)]
        for one, other in pieces:
            before, after = (plain_text(piece or "") for piece in (one, other))
            if before != after:
                yield self._small(of_texts(one or "", other or ""), before, after), before, after

    def _small(self, patterns: list[str], before: str, after: str) -> list[str]:
        """The patterns without those for any words, if these are too large a part of the page."""
        large = max(len("".join(text.split())) for text in (before, after)) > self._largest[0]
        return [pattern for pattern in patterns if not (large and "(.*)" in pattern)]


def _rotates(old: Any, new: Any) -> bool:
    """Does a list show other items each time? Hardly any item stayed, while a list that has grown keeps most."""
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
