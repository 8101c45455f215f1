"""Share one file between the frontiers of a spider's hosts.

A project's own spider has one folder with one file, as its hosts are not known when it starts. Each frontier numbers
its pages from 0; in the file, all pages are numbered consecutively.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence

from sharc_crawler.model import PageId
from sharc_crawler.state.pages import NO_PARENT
from sharc_crawler.state.rows import SOLE, Batch, LinksRow
from sharc_crawler.state.store import StepStore

Number = Callable[[PageId], PageId]


class SharedFile:
    """A store that several frontiers write to, each through its own part."""

    def __init__(self, store: StepStore) -> None:
        self.store = store
        self.pages = 0  #: number of pages in the file
        self._parts = 0

    def part(self) -> PartOfFile:
        """A new, empty part of the file, to be used as a store."""
        self._parts += 1
        return PartOfFile(self, self._parts - 1)

    def parts(self, saved: Batch) -> list[tuple[PartOfFile, Batch]]:
        """The parts in saved state, in order, each with its own state. Must be called before :meth:`part`."""
        found = [self.part() for _ in saved.captures]
        local = array("i")
        for row in saved.pages:
            local.append(len(found[row.capture].numbers))
            found[row.capture].numbers.append(row.page)
        self.pages = len(saved.pages)
        at = [row.capture for row in saved.pages]
        return list(zip(found, _split(saved, at, local), strict=True))


class PartOfFile:
    """The store of one frontier: a :class:`~sharc_crawler.state.store.StepStore`."""

    def __init__(self, file: SharedFile, capture: int) -> None:
        self._file, self._capture = file, capture
        self.numbers = array("i")  #: the frontier's page → its number in the file

    def commit(self, batch: Batch) -> None:
        """Commit a batch, whole or not at all; its pages get the next numbers in the file."""
        known, count = len(self.numbers), len(batch.pages)
        self.numbers.extend(range(self._file.pages, self._file.pages + count))
        try:
            self._file.store.commit(_renumbered(batch, self._in_file, self._capture))
        except BaseException:
            del self.numbers[known:]
            raise
        self._file.pages += count

    def links(self) -> Iterator[LinksRow]:
        """The links of its documents."""
        local = {page: number for number, page in enumerate(self.numbers)}
        for row in self._file.store.links():
            if row.page in local:
                yield row._replace(page=local[row.page], targets=tuple(local[page] for page in row.targets))

    def _in_file(self, page: PageId) -> PageId:
        return page if page == NO_PARENT else self.numbers[page]


def _renumbered(batch: Batch, page: Number, capture: int) -> Batch:
    """The batch with other numbers of its pages and its capture."""
    return Batch(
        pages=[row._replace(page=page(row.page), parent=page(row.parent), capture=capture) for row in batch.pages],
        visits=[row._replace(page=page(row.page)) for row in batch.visits],
        judgements=[row._replace(page=page(row.page)) for row in batch.judgements],
        captures={row.capture: row for row in (one._replace(capture=capture) for one in batch.captures.values())},
        hosts=batch.hosts,
        embeds=[(page(source), page(resource)) for source, resource in batch.embeds],
        links=[row._replace(page=page(row.page), targets=tuple(map(page, row.targets))) for row in batch.links],
        lastmods=[row._replace(page=page(row.page)) for row in batch.lastmods],
        rates=[(page(number), rate, source, shape) for number, rate, source, shape in batch.rates],
        hints=[(page(number), hints) for number, hints in batch.hints],
        novelties={
            page(row.page): row._replace(page=page(row.page), hub=page(row.hub)) for row in batch.novelties.values()
        },
        outside=[row._replace(capture=capture) for row in batch.outside],
        subsites={(capture, number): row._replace(capture=capture) for (_, number), row in batch.subsites.items()},
        members=[(page(number), part) for number, part in batch.members],
        kept=batch.kept,
    )


def _split(saved: Batch, at: Sequence[int], local: Sequence[int]) -> list[Batch]:
    """Split state by capture, and renumber each part; ``at``: the capture of each page, ``local``: its number there."""
    parts = [Batch(captures={SOLE: row}, hosts=saved.hosts) for _, row in sorted(saved.captures.items())]
    for row in saved.pages:
        parts[row.capture].pages.append(row)
    for visit in saved.visits:
        parts[at[visit.page]].visits.append(visit)
    for judgement in saved.judgements:
        parts[at[judgement.page]].judgements.append(judgement)
    for lastmod in saved.lastmods:
        parts[at[lastmod.page]].lastmods.append(lastmod)
    for embed in saved.embeds:
        parts[at[embed[0]]].embeds.append(embed)
    for novelty in saved.novelties.values():
        parts[at[novelty.page]].novelties[novelty.page] = novelty
    for left in saved.outside:
        parts[left.capture].outside.append(left)
    for (capture, number), subsite in saved.subsites.items():
        parts[capture].subsites[SOLE, number] = subsite
    for member in saved.members:
        parts[at[member[0]]].members.append(member)
    return [_renumbered(part, lambda page: page if page == NO_PARENT else local[page], SOLE) for part in parts]
