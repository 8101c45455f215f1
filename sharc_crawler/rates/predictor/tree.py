"""A decision tree by C4.5's criterion: the gain ratio."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Self

import numpy as np
from scipy.special import betaincinv

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from sharc_crawler.rates.predictor.features import Table

LEAST = 5  #: pages on either side of a test
DEEPEST = 25
CONFIDENCE = 0.25  #: C4.5's: errors of a leaf are counted at this upper limit when the tree is pruned


class Cut(NamedTuple):
    """A test of one feature: is it this word, or at most this number?"""

    ratio: float
    gain: float
    name: str
    value: str | float


@dataclass(slots=True)
class Node:
    """A test with two branches, or, without, a leaf."""

    counts: NDArray[np.float64]  #: training pages of each class; a page whose feature was missing counts in parts
    test: tuple[str, str | float] | None = None
    yes: Node | None = None
    no: Node | None = None
    share: float = 0.0  #: of the pages whose feature is known, that pass the test

    def data(self) -> dict[str, Any]:
        """As JSON knows it."""
        found: dict[str, Any] = {"counts": self.counts.round(6).tolist()}
        if self.test and self.yes and self.no:
            branches = {"yes": self.yes.data(), "no": self.no.data()}
            found |= {"test": list(self.test), "share": self.share, **branches}
        return found

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Node:
        """From what :meth:`data` gave."""
        counts = np.array(data["counts"], np.float64)
        if "test" not in data:
            return cls(counts)
        name, value = data["test"]
        yes, no = cls.from_data(data["yes"]), cls.from_data(data["no"])
        return cls(counts, (str(name), value), yes, no, float(data["share"]))


class DecisionTree:
    """Binary tests chosen by gain ratio among those of at least average gain, then pruned by pessimistic error.

    A page whose feature is missing goes both ways, in the shares of the pages whose feature is known; the gain of a
    test counts for the share of pages that it can be put to.

    Examples
    --------
    >>> from sharc_crawler.rates.predictor.features import Table
    >>> table = Table({}, {"depth": np.repeat([1.0, 5.0, np.nan], 10)})
    >>> tree = DecisionTree().fit(table, np.repeat([0, 1, 1], 10), 2)
    >>> tree.predict(Table({}, {"depth": np.array([1.0, 9.0, np.nan])})).argmax(1).tolist()
    [0, 1, 1]

    References
    ----------
    Quinlan, C4.5: programs for machine learning, 1993, chapters 2 to 4.

    """

    def fit(self, table: Table, labels: NDArray[np.int64], classes: int) -> Self:
        """Grow and prune. ``labels``: the bin of each page, below ``classes``."""
        grower = _Grower(table, labels, classes)
        self.root_ = grower.grow(np.arange(len(labels)), np.ones(len(labels)), DEEPEST)
        _prune(self.root_)
        return self

    def predict(self, table: Table) -> NDArray[np.float64]:
        """Probabilities, shape (pages, classes): shares in the leaf, smoothed by one page of the whole tree's."""
        counts = self.root_.counts
        prior = (counts + 1.0) / (counts + 1.0).sum()
        out = np.zeros((len(table), len(counts)))
        _pass(self.root_, table, np.arange(len(table)), np.ones(len(table)), prior, out)
        return out

    def data(self) -> dict[str, Any]:
        """All that was learned, as JSON knows it."""
        return self.root_.data()

    @classmethod
    def from_data(cls, data: dict[str, Any]) -> Self:
        """From what :meth:`data` gave."""
        tree = cls()
        tree.root_ = Node.from_data(data)
        return tree


def entropy(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Bits per row of counts, 0 for a row without any."""
    total = counts.sum(-1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = counts / total
        return np.asarray(-np.nansum(np.where(share > 0, share * np.log2(share), 0.0), axis=-1))


def gains(
    yes: NDArray[np.float64], whole: NDArray[np.float64], pages: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Gain and gain ratio of tests, -inf where a side is too small.

    Parameters
    ----------
    yes: shape (tests, classes), pages that pass each test, by class
    whole: shape (classes,), all pages whose feature is known
    pages: those whose feature is missing included

    >>> gain, ratio = gains(np.array([[6.0, 0.0]]), np.array([6.0, 6.0]), 12)
    >>> gain.tolist(), ratio.tolist()
    ([1.0], [1.0])

    """
    no, known = whole - yes, whole.sum()
    sizes = np.stack([yes.sum(1), no.sum(1)], axis=1)
    after = (sizes[:, 0] * entropy(yes) + sizes[:, 1] * entropy(no)) / known
    gain = (entropy(whole) - after) * known / pages
    missing = np.full((len(yes), 1), pages - known)  # C4.5: a branch of its own, as far as the split is concerned
    spread = entropy(np.concatenate([sizes, missing], axis=1))
    good = (sizes.min(1) >= LEAST) & (gain > 1e-9)
    return np.where(good, gain, -np.inf), np.where(good, gain / np.maximum(spread, 1e-12), -np.inf)


class _Grower:
    """Grows a tree over rows of a table; a row may be in a node with a part of its weight."""

    def __init__(self, table: Table, labels: NDArray[np.int64], classes: int) -> None:
        self.labels, self.classes = labels, classes
        self.numbers = table.numbers
        self.values: dict[str, list[str]] = {}
        self.codes: dict[str, NDArray[np.int64]] = {}
        for name, column in table.words.items():
            self.values[name] = sorted({value for value in column if value is not None})
            numbers = {value: number for number, value in enumerate(self.values[name])}
            self.codes[name] = np.array([-1 if v is None else numbers[v] for v in column], np.int64)

    def grow(self, rows: NDArray[np.int64], weight: NDArray[np.float64], deep: int) -> Node:
        node = Node(np.bincount(self.labels[rows], weight, self.classes).astype(np.float64))
        mixed = np.count_nonzero(node.counts) > 1
        cut = self._best(rows, weight) if deep and mixed else None
        if cut is None:
            return node
        known, passed = self._put(cut, rows)
        node.test = cut.name, cut.value
        node.share = float(weight[known & passed].sum() / weight[known].sum())
        to_yes = np.where(known, passed.astype(np.float64), node.share) * weight
        node.yes, node.no = (self.grow(rows[part > 0], part[part > 0], deep - 1) for part in (to_yes, weight - to_yes))
        return node

    def _put(self, cut: Cut, rows: NDArray[np.int64]) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which rows can be put to a test, and which pass it."""
        if cut.name in self.codes:
            codes = self.codes[cut.name][rows]
            return codes >= 0, codes == self.values[cut.name].index(str(cut.value))
        column = self.numbers[cut.name][rows]
        return ~np.isnan(column), column <= float(cut.value)

    def _best(self, rows: NDArray[np.int64], weight: NDArray[np.float64]) -> Cut | None:
        """The test of the highest gain ratio among those of at least average gain."""
        cuts = [cut for name in self.codes if (cut := self._by_word(name, rows, weight))]
        cuts += [cut for name in self.numbers if (cut := self._by_number(name, rows, weight))]
        if not cuts:
            return None
        average = sum(cut.gain for cut in cuts) / len(cuts)
        return max((cut for cut in cuts if cut.gain >= average - 1e-12), key=lambda cut: cut.ratio)

    def _by_word(self, name: str, rows: NDArray[np.int64], weight: NDArray[np.float64]) -> Cut | None:
        codes = self.codes[name][rows]
        known = codes >= 0
        present, place = np.unique(codes[known], return_inverse=True)
        cells = place * self.classes + self.labels[rows][known]
        sums = np.bincount(cells, weight[known], len(present) * self.classes).astype(np.float64)
        yes = sums.reshape(-1, self.classes)
        words = [self.values[name][code] for code in present.tolist()]
        return _choose(name, words, yes, yes.sum(0), weight.sum())

    def _by_number(self, name: str, rows: NDArray[np.int64], weight: NDArray[np.float64]) -> Cut | None:
        column = self.numbers[name][rows]
        known = np.flatnonzero(~np.isnan(column))
        order = known[np.argsort(column[known], kind="stable")]
        values, steps = np.unique(column[order], return_index=True)
        marks = np.zeros((len(order), self.classes))
        marks[np.arange(len(order)), self.labels[rows][order]] = weight[order]
        sums = np.cumsum(marks, axis=0)
        middles = ((values[:-1] + values[1:]) / 2).tolist()
        return _choose(name, middles, sums[steps[1:] - 1], marks.sum(0), weight.sum())


def _choose(
    name: str, values: Sequence[str | float], yes: NDArray[np.float64], whole: NDArray[np.float64], pages: float
) -> Cut | None:
    """The value of the highest gain, if there is any."""
    if not values:
        return None
    gain, ratio = gains(yes, whole, pages)
    best = int(gain.argmax())
    return Cut(float(ratio[best]), float(gain[best]), name, values[best]) if gain[best] > 0 else None


def _pass(
    node: Node,
    table: Table,
    rows: NDArray[np.int64],
    weight: NDArray[np.float64],
    prior: NDArray[np.float64],
    out: NDArray[np.float64],
) -> None:
    """Let pages fall to the leaves, with their weights."""
    if not len(rows):
        return
    if node.test is None or node.yes is None or node.no is None:
        out[rows] += weight[:, None] * (node.counts + prior) / (node.counts.sum() + 1.0)
        return
    name, value = node.test
    if isinstance(value, str):
        words = [table.words[name][row] for row in rows.tolist()]
        missing, passed = np.array([w is None for w in words]), np.array([w == value for w in words])
    else:
        number = table.numbers[name][rows]
        missing, passed = np.isnan(number), number <= value
    to_yes = np.where(missing, node.share, passed.astype(np.float64)) * weight
    for branch, share in ((node.yes, to_yes), (node.no, weight - to_yes)):
        some = share > 0
        _pass(branch, table, rows[some], share[some], prior, out)


def _prune(node: Node) -> float:
    """Make leaves of branches that are no better; the pessimistic number of errors below the node."""
    pages = float(node.counts.sum())
    errors = pages - float(node.counts.max(initial=0.0))
    # Upper limit of a binomial share at confidence 25 % (Clopper and Pearson), times the pages.
    upper = pages * float(betaincinv(errors + 1.0, pages - errors, 1.0 - CONFIDENCE)) if errors < pages else pages
    if node.yes is None or node.no is None:
        return upper
    below = _prune(node.yes) + _prune(node.no)
    if upper <= below + 0.1:
        node.test = node.yes = node.no = None
        return upper
    return below
