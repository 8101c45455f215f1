"""First visits carry the validators of former captures: what has not changed is not sent again.

A server whose 304s were found wrong, now or in a former capture, is asked in full. Where nothing is revisited, and so
nothing audited, a sample of the first visits is asked in full and compared.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from sharc_crawler.archive.former_answers import FormerAnswer, FormerAnswers
from sharc_crawler.archive.options import FORMER
from sharc_crawler.archive.replay import lost_warcs
from sharc_crawler.collection.distrust import distrust, distrusted
from sharc_crawler.collection.folder import Collection
from sharc_crawler.collection.thinning import damaged_note, forget_payloads
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.comparison import compare
from sharc_crawler.evidence.headers import is_part, of_headers
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.evidence.validators import confirmed, contradicts, weak
from sharc_crawler.model import NO_VALIDATORS, Fetch, Outcome, Result, Validators
from sharc_crawler.strategies.base import Setting
from sharc_crawler.strategies.make import make_strategy

if TYPE_CHECKING:
    from sharc_crawler.frontier.opening import Parts
    from sharc_crawler.live.config import Config
    from sharc_crawler.live.middlewares import ArchiveMiddleware
    from sharc_crawler.live.session import Session
    from sharc_crawler.state.spec import CaptureSpec
    from sharc_crawler.state.store import FrontierStore

LIES = (
    "the server's validators lie: {url} has other bytes than its former capture, and the same validators: asked in full"
)


class FormerCaptures:
    """The former captures of one site: validators and answers by URL."""

    def __init__(self, collection: Collection, output: Path) -> None:
        self._collection, self._name = collection, output.parent.name
        found = [capture.folder for capture in collection.captures(self._name) if capture.folder != output]
        self._answers = FormerAnswers(reversed(found))
        self._damaged: set[Path] = set()  # no capture refers to their payloads
        self._untold: list[str] = []  # notes on these that were not made yet
        for folder in found:
            if lost_warcs([folder]):
                self._forget(folder)
        self._distrusted = distrusted(collection.folder, self._name, collection.masks(self._name))
        self._caught = 0
        self._sampled: dict[str, FormerAnswer] = {}  # fetched in full as a sample, and not answered yet

    def known_to(self, parts: Parts) -> Parts:
        """A frontier's parts, extended by these."""
        return replace(parts, former=self.validators, taken=self.taken, believed=self.believed)

    def believed(self) -> bool:
        """Are the server's 304s believed? Of one that lied nothing is asked with validators, revisits included."""
        return self._distrusted is None and not self._caught

    def validators(self, spec: CaptureSpec, url: str) -> Validators:
        """The validators that a first visit of a URL may carry."""
        if not self.believed():
            return NO_VALIDATORS
        answer = self.find(url)
        known = _strong(answer) if answer else NO_VALIDATORS
        if answer and known and _is_sampled(spec, url):
            self._sampled[url] = answer
            return NO_VALIDATORS
        return known

    def taken(self, _: CaptureSpec, url: str) -> Outcome | None:
        """The outcome of a page that is not asked for; ``None``: it must be asked for.

        A cached copy, or an answer without a date, will not do: its time is not known well enough to check the server.
        """
        answer = self.find(url)
        outcome = as_taken(answer) if answer else None
        dated = outcome is not None and outcome.date is not None and outcome.age is None
        return outcome if outcome and dated and not is_part(outcome) else None

    def answer(self, fetch: Fetch, said: Validators = NO_VALIDATORS) -> FormerAnswer | None:
        """The answer that a 304 to a first visit refers to; ``None``: ask for the page in full.

        That is so if the answer cannot be read any more, or if the 304 has another ETag (``said``) than was asked by:
        such a server is asked in full from then on.
        """
        other = contradicts(fetch.validators, said)
        self._caught += other
        found = None if other else self.find(fetch.url)
        if found is None:
            self._answers.drop(fetch.url)
        return found

    def find(self, url: str) -> FormerAnswer | None:
        """The last answer of a URL. The payload of a damaged one is stored again when it next arrives."""
        answer = self._answers.find(url)
        if answer is None and (folder := self._answers.damaged(url)):
            self._forget(folder)
        return answer

    def _forget(self, folder: Path) -> None:
        if folder not in self._damaged:
            self._damaged.add(folder)
            self._untold.append(damaged_note(self._collection, folder))
            with suppress(DataError):  # if its state is damaged, too, its content is unknown
                forget_payloads(self._collection, folder)

    def noted(self, fetch: Fetch, outcome: Outcome) -> list[str]:
        """The notes that follow from a first visit."""
        told, self._untold = [*self._untold, self.check(fetch, outcome)], []
        return [text for text in told if text]

    def check(self, fetch: Fetch, outcome: Outcome) -> str | None:
        """The note on a server that lies, or did so before."""
        if self._distrusted:
            return str(self._distrusted["words"])
        before = self._sampled.pop(fetch.url, None)
        if before is None or outcome.result is not Result.OK:
            return None
        found = compare(as_taken(before), outcome, restless=True)
        if found.reason != Reason.OTHER_BYTES or _strong(before) != outcome.validators:
            return None
        self._caught += 1
        return LIES.format(url=fetch.url)

    def end(self, store: FrontierStore) -> None:
        """Remember what this capture found out about the server."""
        for row in store.captures().values():
            strata = (row.audit or {}).get("strata", ())
            lies = self._caught + sum(stratum["caught"] for stratum in strata if stratum["of"] == "304")
            if lies:
                distrust(self._collection.folder, self._name, lies, row.started)


def former_captures(collection: Path | None, config: Config) -> FormerCaptures | None:
    """The former captures of a collection, if its captures may refer to each other."""
    if collection is None or config.output is None or config.dedup not in FORMER or not config.warc:
        return None
    return FormerCaptures(Collection(collection), config.output)


def _strong(answer: FormerAnswer) -> Validators:
    """Usable validators: a ``Last-Modified`` alone must be older than the answer, and a partial answer has none."""
    outcome = as_taken(answer)
    unfit = is_part(outcome) or (not outcome.validators.etag and weak(outcome))
    return NO_VALIDATORS if unfit else outcome.validators


def _is_sampled(spec: CaptureSpec, url: str) -> bool:
    """Whether a page is in the sample asked for in full, where nothing is revisited."""
    if make_strategy(spec.strategy, Setting()).revisits:
        return False
    lots = spec.settings.get("lots") or spec.settings.get("run")
    return int.from_bytes(blake2b(f"{lots} {url}".encode(), digest_size=8).digest()) < spec.audit * 2**64


# -- what a former capture's answer stands for: by a 304, or without asking --------------------------------------------


def unchanged(outcome: Outcome, fetch: Fetch, answer: FormerAnswer) -> Outcome:
    """The outcome of a 304 to a first visit: the former capture's content, on the server's word."""
    of_former = of_headers(answer.message.headers)
    return outcome._replace(
        result=Result.OK,
        validators=confirmed(fetch.validators, outcome.validators),
        media_type=of_former["media_type"],
        charset=of_former["charset"],
    )


def as_taken(answer: FormerAnswer) -> Outcome:
    """The outcome of a visit that a former answer stands for."""
    held, own = answer.original, of_headers(answer.message.headers)
    status, place = answer.message.status, answer.place
    return Outcome(Result.OK, held.date, held.date, status, held.digest, capture=place, decoded=held.decoded, **own)


def take(middleware: ArchiveMiddleware, session: Session, fetch: Fetch) -> None:
    """Use a former answer for a page, and read its links; if it is gone by now, the page is fetched."""
    known = session.former
    answer = known.find(fetch.url) if known else None
    if known is None or answer is None:
        middleware.withheld(fetch)
        return
    outcome = as_taken(answer)
    order = middleware.order(fetch, outcome, fetch.url)._replace(digests=True)
    middleware.tell(fetch, outcome, None, session.readers.read(answer.raw, order))
