"""``sharc keep``: has each site of a collection captured when it is due, by ``scrapy crawl site``.

It decides by what is in the folder, so it can be killed at any moment and goes on from there.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from shutil import disk_usage
from types import MappingProxyType
from typing import NamedTuple
from urllib.parse import urlsplit

from sharc_crawler.collection.attempts import Tries, due, is_told, read_tries, write_tries
from sharc_crawler.collection.confirming import Confirmer
from sharc_crawler.collection.folder import CollectedCapture, Collection, is_over
from sharc_crawler.collection.notices import KeepNotice, tell
from sharc_crawler.collection.planning import plan
from sharc_crawler.collection.terms import AUTO, FILE, SiteTerms
from sharc_crawler.collection.thinning import is_damaged_note, thin
from sharc_crawler.errors import MALFORMED, SharcError, UsageError
from sharc_crawler.instants import second
from sharc_crawler.model import Instant, Seconds
from sharc_crawler.plural import counted
from sharc_crawler.report.words import short, size
from sharc_crawler.storage.beside import is_held

LOGS, CONFIRM_LOG = "logs", ".confirm.log"  #: a site is not named so
PROFILE = "sharc_crawler.live.profile"
ROUND: Seconds = 0.2  #: between two checks of running processes
LOOK: Seconds = 30.0  #: between two looks at the folder, at most
CANNOT_BEGIN = 2  #: like a usage error: a person is needed
INTERRUPTED = 5  #: exit code of a crawl to be continued
SHRUNK = 0.5  #: share of the former number of pages, below which a person should look
_LEADS = re.compile(r"the seed \S+ redirects to (\S+): ")
_MARKS = ("sharc: error", "  not captured", "sharc: ")  #: beginnings of lines that give the reason
_SPOKEN = 2_000  #: characters of a crawl's message, with a way out that may name three folders


NOTHING: Mapping[str, Tries] = MappingProxyType({})


class KeptSite(NamedTuple):
    """A site with its last capture, interval and failures."""

    site: SiteTerms
    last: CollectedCapture | None  #: the last capture, complete or not
    every: Seconds | None  #: as given, or as planned (``auto``)
    tries: Tries
    due: Instant | None  #: 0: now; None: never
    unfinished: bool  #: the last capture is to be continued
    running: bool  #: by any process


def kept_sites(collection: Collection, unwritten: Mapping[str, Tries] = NOTHING) -> Iterator[KeptSite]:
    """The sites in the collection's file; ``unwritten``: results that could not be written to ``keep.json``."""
    known = {**read_tries(collection.folder), **unwritten}
    planned = plan(collection)
    for site in collection.terms.sites:
        last = collection.last(site.name)
        unfinished = last is not None and _is_unfinished(last.folder)
        now, tries = time.time(), known.get(site.name, Tries())
        begun = last.time if last and last.time <= now else None  # a capture of the future does not delay the next
        tries = tries if tries.ended <= now else tries._replace(ended=0.0)  # nor does a failure of the future
        every = planned.get(site.name, site.every)
        assert every != AUTO, "it is planned"
        when = due(every, begun, tries, unfinished=unfinished)
        running = last is not None and is_held(last.folder)
        yield KeptSite(site, last, every, tries, when, unfinished, running)


def _is_unfinished(capture: Path) -> bool:
    """Whether to continue it. If its store cannot be loaded, the crawl of this site reports that."""
    try:
        return not is_over(capture)
    except UsageError:
        return True


class CollectionKeeper:
    """Keeps a collection; ``say`` gets a line for each event."""

    def __init__(self, folder: Path, at_once: int, say: Callable[[str], None]) -> None:
        self._collection = Collection(folder)
        self._at_once = at_once
        self._say = say
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._over: dict[str, Path | None] = {}  #: the last complete capture when a process was started
        self._confirmer = Confirmer(folder / LOGS / CONFIRM_LOG, _environment())
        self._unwritten: dict[str, Tries] = {}  #: while the disk is full
        self._wrong = ""  #: what is wrong in the file since it was last read
        self.stopping = False

    def run(self, *, once: bool) -> None:
        """Run until told to stop (``once``: until nothing is due). Running captures are interrupted."""
        tried: set[str] = set()
        look = 0.0
        while not self.stopping:
            if self._ended() or time.monotonic() >= look:
                self._read_again()
                found = [kept for kept in self._kept_sites() if not (once and kept.site.name in tried)]
                tried |= self._begin(found)
                self._confirmer.begin(self._collection, self._running)
                now = time.time()  # the clock may have been set
                waits = [kept.due - now for kept in found if kept.due and kept.due > now]
                look = time.monotonic() + min([LOOK, *waits])
                if once and not self._running and not self._confirmer.running:
                    return
            time.sleep(ROUND)
        self._confirmer.stop()
        for process in self._running.values():
            process.send_signal(signal.SIGTERM)  # libraries that are being loaded may swallow a KeyboardInterrupt
        while self._running:
            self._ended()
            time.sleep(ROUND)

    def _begin(self, found: list[KeptSite]) -> set[str]:
        """Start captures that are due, the longest overdue first, up to the limit."""
        now = time.time()
        free = [kept for kept in found if not kept.running and kept.site.name not in self._running]
        waiting = sorted((kept for kept in free if kept.due is not None and kept.due <= now), key=_overdue)
        begun = waiting[: self._at_once - len(self._running)]
        for kept in begun:
            self._start(kept.site)
        return {kept.site.name for kept in begun}

    def _kept_sites(self) -> Iterator[KeptSite]:
        return kept_sites(self._collection, self._unwritten)

    def _read_again(self) -> None:
        """Read the file again; an error is reported once, and the former terms stay."""
        try:
            self._collection = Collection(self._collection.folder)
            self._wrong = ""
        except SharcError as error:
            if str(error) != self._wrong:
                self._say(f"the terms stay as they were: {error}")
            self._wrong = str(error)

    def _start(self, site: SiteTerms) -> None:
        folder = self._collection.folder
        command = [sys.executable, "-m", "scrapy", "crawl", "site"]
        command += ["-a", f"collection={folder}", "-a", f"url={site.name}"]
        log = self._log(site.name)
        self._over[site.name] = self._last_over(site.name)
        try:
            log.parent.mkdir(exist_ok=True)
            with log.open("wb") as out:
                self._running[site.name] = subprocess.Popen(  # noqa: S603 - our own
                    command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, env=_environment(),
                    start_new_session=True,  # so that Ctrl-C reaches it once, from here
                )  # fmt: skip
        except OSError as error:
            self._record_result(site.name, CANNOT_BEGIN, f"it cannot be begun: {error}")
            return
        self._say(f"{site.name}: is being captured, by process {self._running[site.name].pid}; {log}")

    def _ended(self) -> bool:
        """Handle captures that have ended; returns whether there were any."""
        ended = [(name, code) for name, process in self._running.items() if (code := process.poll()) is not None]
        for name, code in ended:
            del self._running[name]
            self._record_result(name, code)
        if message := self._confirmer.ended():
            self._say(message)
        return bool(ended or message)

    def _record_result(self, name: str, code: int, message: str = "") -> None:
        """Record the result of a capture, and notify whoever is to know."""
        folder = self._collection.folder
        if code == INTERRUPTED or (self.stopping and code < 0):
            if self._last_over(name) in (None, self._over.get(name)):
                self._say(f"{name}: stopped; it goes on another time")
                return
            code = 0  # it was complete before it was stopped
        known = {**read_tries(folder), **self._unwritten}
        before, message = known.get(name, Tries()), message or (self._last_message(name) if code else "")
        failures = before.failures + 1 if code else 0
        known[name] = Tries(time.time(), failures, code, message)
        self._write(known)
        self._say(f"{name}: {f'failed ({_exit_text(code)}): {message}' if code else 'complete'}")
        if is_told(failures):
            self._notify(name, "failed", self._failure_text(name, known[name]))
        if not code:
            self._captured(name, before.failures)
            self._thin(name)

    def _last_over(self, name: str) -> Path | None:
        """The folder of the last capture, if it is over."""
        last = self._collection.last(name)
        return last.folder if last and not _is_unfinished(last.folder) else None

    def _thin(self, name: str) -> None:
        """Remove captures that no rule keeps; an error is only reported."""
        try:
            gone = thin(self._collection, name, time.time())
        except (OSError, SharcError) as error:
            self._say(f"{name}: former captures are not thinned out: {error}")
            return
        for one in gone:
            self._say(f"{name}: {one} is thinned out: no rule keeps it, and it held nothing of its own")

    def _captured(self, name: str, failures: int) -> None:
        """Notify of changes between a complete capture and the last one with pages before it."""
        folders = [capture.folder for capture in self._collection.captures(name)]
        folders = [*islice(filter(pages_of, reversed(folders[:-1])), 1), *folders[-1:]]
        if to := moved_to(folders):
            where = f"give that as its url in {FILE}, with name: {name}, which keeps its captures together"
            self._notify(name, "moved", f"It leads to {to} now, and was captured there. If it has moved, {where}.")
        for text in damaged_since(folders):
            self._notify(name, "damaged", f"Its last capture notes: {text}")
        if text := self._shrunk(folders):
            self._notify(name, "shrunk", text)
        elif failures:
            self._notify(name, "works again", f"It is captured again, after {counted(failures, 'failure')}.")

    def _write(self, known: dict[str, Tries]) -> None:
        try:
            write_tries(self._collection.folder, known)
            self._unwritten = {}
        except OSError as error:  # this process remembers it
            self._unwritten = known
            self._say(f"what came of it cannot be written down: {error}")

    def _failure_text(self, name: str, tries: Tries) -> str:
        one = next((kept for kept in self._kept_sites() if kept.site.name == name), None)
        next_try = f"It is tried again at {second(one.due)}." if one and one.due else "It is not tried again by itself."
        if to := re.search(r"redirects to (https?://[^;\s]+)", tries.said):
            here = one is not None and urlsplit(to[1]).netloc in {urlsplit(url).netloc for url in one.site.urls}
            moved = f"If the site has moved to {to[1]}, give that as its url in {FILE}."
            next_try = f"{next_try} {'It may ask for a log-in.' if here else moved}"
        failures = counted(tries.failures, "failure")
        return f"{failures} in a row; the last with {_exit_text(tries.code)}: {tries.said}\n{next_try}"

    @staticmethod
    def _shrunk(folders: Sequence[Path]) -> str:
        """A warning if a site has shrunk, or shows one page (perhaps a log-in page) under all addresses."""
        for more, count in (("", pages_of), (", each content counted once", contents_of)):
            before, last = ([None, None] + [count(folder) for folder in folders])[-2:]
            if before is not None and last is not None and last < SHRUNK * before:
                return (
                    f"Its last capture has {counted(last, 'page')}{more}, the one before had {before:,}: it may have"
                    " moved, ask for a log-in, or keep crawlers out. Look at report.html of both."
                )
        return ""

    def _notify(self, name: str, event: str, text: str) -> None:
        notify, folder = self._collection.terms.notify, str(self._collection.folder)
        self._say(f"{name}: {event}: {' '.join(text.split())}")
        if notify:
            try:
                tell(notify, KeepNotice(folder, name, event, text, str(self._log(name))))
            except SharcError as error:
                self._say(str(error))

    def _last_message(self, name: str) -> str:
        """The crawl's last message: its error, or why nothing was captured."""
        try:
            text = self._log(name).read_text(encoding="utf-8", errors="replace")
        except OSError:  # it was moved meanwhile
            text = ""
        lines = text.replace("\r", "\n").splitlines()
        why = [line for mark in _MARKS for line in lines if line.startswith(mark)]
        free = size(disk_usage(self._collection.folder).free)
        nothing = f"it said nothing ({free} are free for {self._collection.folder})"
        return short((why or [line for line in lines if line.strip()] or [nothing])[0].strip(), _SPOKEN)

    def _log(self, name: str) -> Path:
        return self._collection.folder / LOGS / f"{name}.log"


def _exit_text(code: int) -> str:
    """How a process ended.

    >>> _exit_text(5), _exit_text(-9)
    ('exit code 5', 'exit code -9: it was killed, perhaps for lack of memory')
    """
    killed = ": it was killed, perhaps for lack of memory" if code == -signal.SIGKILL else ""
    return f"exit code {code}{killed}"


def damaged_since(folders: Sequence[Path]) -> list[str]:
    """Former captures that the last of two captures notes as damaged, and the one before did not."""
    before, last = (*([], []), *map(_notes, folders))[-2:]
    return [note for note in last if is_damaged_note(note) and note not in before]


def moved_to(folders: Sequence[Path]) -> str:
    """Where a site's address leads in the last of two captures only; "": nowhere."""
    if len(folders) < 2:
        return ""
    before, last = map(_targets, folders)
    return min(last - before, default="")


def _targets(capture: Path) -> set[str]:
    """Other hosts that the site's address redirects to."""
    return {found[1] for note in _notes(capture) if (found := _LEADS.match(note))}


def _notes(capture: Path) -> list[str]:
    """The notes in a capture's report."""
    try:
        (one,) = json.loads((capture / "report.json").read_text(encoding="utf-8"))["captures"]
        return [str(note) for note in one["notes"]]
    except (OSError, *MALFORMED):
        return []


def pages_of(capture: Path) -> int | None:
    """The number of pages of a capture; ``None``: unknown."""
    try:
        (one,) = json.loads((capture / "report.json").read_text(encoding="utf-8"))["captures"]
        return int(one["coherence"]["captured"])
    except (OSError, *MALFORMED):
        return None


def contents_of(capture: Path) -> int | None:
    """The number of different contents of a capture's pages; ``None``: unknown."""
    found = set()
    try:
        with (capture / "report-pages.jsonl").open(encoding="utf-8") as lines:
            for line in lines:
                row = json.loads(line)
                if row["kind"] == "page" and row["visit"] and row["visit"]["result"] == "ok":
                    found.add(row["visit"]["digest"])
    except (OSError, *MALFORMED):
        return None
    return len(found)


def _overdue(one: KeptSite) -> Instant:
    return one.due or 0.0


def _environment() -> dict[str, str]:
    """The project's settings if they are named, else our profile."""
    return {"SCRAPY_SETTINGS_MODULE": PROFILE, **os.environ}
