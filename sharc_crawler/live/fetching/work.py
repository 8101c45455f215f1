"""| What to fetch of an archive: the index of every seed, then, if links are wanted, the mementos."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from sharc_crawler.archive.histories.reading import read_history
from sharc_crawler.archive.histories.servers import NOTHING, CaptureQuery, Dialect, memento
from sharc_crawler.archive.replay import moment
from sharc_crawler.archive.surt import surt
from sharc_crawler.changes.http import REDIRECTS
from sharc_crawler.errors import DataError
from sharc_crawler.live.fetching.client import Client, PostponedError, RefusedError, SilentError
from sharc_crawler.plural import counted
from sharc_crawler.seeds.hacs.captures import NO_DIGEST, Captures
from sharc_crawler.seeds.hacs.sites import pages_under

if TYPE_CHECKING:
    from sharc_crawler.archive.histories.fetched import AnswerFolder
    from sharc_crawler.archive.warc import WarcWriter

MOST_ANSWERS = 10_000  #: for one seed, which is a hundred million captures
SILENT = 5  #: unanswered questions in a row, after which the archive is taken to be away


@dataclass(frozen=True, slots=True)
class FetchPlan:
    """What is wanted of an archive."""

    dialect: Dialect
    seeds: tuple[str, ...]
    website: bool = False
    since: str | None = None  #: 14 digits
    replay: str | None = None  #: prefix of mementos' addresses; None: no mementos


@dataclass(slots=True)
class Tally:
    """How many questions were answered, failed, or needed not be asked."""

    seeds: int = 0
    fetched: int = 0  #: seeds with their whole history
    unknown: int = 0  #: of these, seeds that the archive never captured
    missing: int = 0  #: seeds answered 404 by a server that never answered otherwise: nothing is kept of them
    mementos: int = 0  #: on disk
    requests: int = 0
    failures: list[str] = field(default_factory=list)
    stopped: str | None = "interrupted"  #: why it ended early


class Work:
    """Carries out a plan, one question at a time; ``report`` is told phase, done and total."""

    def __init__(
        self, plan: FetchPlan, folder: AnswerFolder, writer: WarcWriter | None, report: Callable[[str, int, int], None]
    ) -> None:
        self.tally = Tally(seeds=len(plan.seeds))
        self._plan, self._folder, self._writer, self._report = plan, folder, writer, report
        self._silent = 0
        self._is_archive = False  # one of these questions was answered with something other than 404
        self._missing: list[str] = []  # seeds answered 404 before that

    async def run(self, client: Client) -> None:
        """Ask for everything, as far as the archive allows."""
        try:
            await self._indexes(client)
            if self._writer is not None:
                await self._mementos(client, self._writer)
            self.tally.stopped = None
        except PostponedError as error:
            self.tally.stopped = str(error)
        finally:
            self.tally.requests, self.tally.missing = client.requests, len(self._missing)

    async def _indexes(self, client: Client) -> None:
        for number, seed in enumerate(self._plan.seeds):
            self._report("indexes", number, len(self._plan.seeds))
            await self._guarded(self._index(client, seed))

    async def _index(self, client: Client, seed: str) -> None:
        wanted = CaptureQuery(seed, self._plan.website, self._plan.since)
        dialect, folder = self._plan.dialect, self._folder
        answers = folder.answers(seed)
        self._is_archive = self._is_archive or bool(answers)
        if not folder.complete(seed):
            asked: set[str] = set()
            while question := dialect.question(wanted, answers):
                if question in asked:
                    raise RefusedError(f"{question}: asked before: the archive goes round in its index of {seed}")
                if len(answers) >= MOST_ANSWERS:
                    raise RefusedError(f"{seed}: {len(answers):,} answers, and there is more: does its index ever end?")
                asked.add(question)
                answer = await self._answer(client, question, answers)
                dialect.check_page(wanted, answer)
                if not self._is_archive:
                    self._missing.append(seed)
                    return
                answers.append(answer)
                folder.keep(seed, len(answers) - 1, answer)
            folder.finish(seed)
        self._count(answers)
        self._believe_missing()

    def _count(self, answers: list[bytes]) -> None:
        self.tally.unknown += answers[0].strip() == NOTHING.strip()
        self.tally.fetched += 1

    def _believe_missing(self) -> None:
        """Believe the server's 404s: it has proved to be an archive."""
        while self._missing:
            seed = self._missing.pop()
            self._folder.keep(seed, 0, NOTHING)
            self._folder.finish(seed)
            self._count([NOTHING])

    async def _answer(self, client: Client, question: str, before: list[bytes]) -> bytes:
        dialect = self._plan.dialect
        answer = await client.ask(question, dialect.check, dialect.longest)
        if answer.status == 200:
            self._is_archive = True
            return answer.body if answer.body.strip() else NOTHING
        if dialect.ends(answer.status, before):
            return NOTHING
        raise RefusedError(f"{question}: status {answer.status}")

    async def _mementos(self, client: Client, writer: WarcWriter) -> None:
        there = {url for url, status in self._folder.replayed().items() if status not in REDIRECTS}
        wanted = list(dict.fromkeys(self._wanted_mementos()))
        for number, url in enumerate(wanted):
            self._report("mementos", number, len(wanted))
            if url not in there:
                await self._guarded(self._memento(client, writer, url))
            else:
                self.tally.mementos += 1

    async def _memento(self, client: Client, writer: WarcWriter, url: str) -> None:
        for exchange in (await client.ask(url)).exchanges:
            writer.write(exchange)
        self.tally.mementos += 1

    def _wanted_mementos(self) -> Iterator[str]:
        try:
            captures = read_history([self._folder.index]).captures
        except DataError:
            return  # no capture at all
        keys = [surt(seed) for seed in self._plan.seeds]
        number = {key: page for page, key in enumerate(captures.keys)}
        pairs = pages_under(keys, captures.keys) if self._plan.website else [(0, number.get(key, -1)) for key in keys]
        for _, page in pairs:
            if page >= 0:
                yield from self._addresses(captures, page)

    def _addresses(self, captures: Captures, page: int) -> Iterator[str]:
        """The addresses of a page's mementos; of equal digests only the first."""
        seen: set[int] = set()
        for row in range(captures.offsets[page], captures.offsets[page + 1]):
            digest = int(captures.digests[row])
            stamp = moment(captures.times[row])
            if digest not in seen and stamp >= (self._plan.since or ""):
                yield memento(self._plan.replay or "", stamp, captures.urls[page])
            seen |= {digest} - {NO_DIGEST}

    async def _guarded(self, step: Awaitable[None]) -> None:
        """Run a step. One that fails is listed, and others go on; too many in a row end the work."""
        try:
            await step
            self._silent = 0
        except (RefusedError, DataError) as error:
            self.tally.failures.append(str(error))
            self._silent = 0
        except SilentError as error:
            self.tally.failures.append(str(error))
            self._silent += 1
            if self._silent >= SILENT:
                raise PostponedError(
                    f"{counted(self._silent, 'question')} in a row without an answer: {error}"
                ) from error
