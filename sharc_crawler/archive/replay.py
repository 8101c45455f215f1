"""Show captures with pywb, a replay tool that is installed in an environment of its own and only started here."""

from __future__ import annotations

import os
import re
import secrets
import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from http.client import HTTPConnection, HTTPException
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory

from sharc_crawler.addresses.urls import _PARAMETERS, FORMS, LEADS_ON
from sharc_crawler.archive.cdxj import REVISIT, index_lines, read_index
from sharc_crawler.archive.files import SUFFIX
from sharc_crawler.archive.members import Record, read_at
from sharc_crawler.archive.options import COLLECTION
from sharc_crawler.archive.zipnum import merged
from sharc_crawler.errors import SharcError, UsageError
from sharc_crawler.model import Instant

PYWB = "SHARC_PYWB"  #: environment variable: the folder with pywb's programs
_PORTS = range(15_000, 32_000)
_STARTING = 240.0  #: most seconds until pywb listens
_OWN = "started.txt"  #: a file that only this pywb serves
HOW_TO_GET = (
    "pywb is not installed, or not found. It pins old packages, so give it an environment of its own: "
    f"python3 -m venv ~/pywb && ~/pywb/bin/pip install pywb && export {PYWB}=~/pywb/bin"
)


def find_pywb(environment: Mapping[str, str]) -> Path:
    """The program ``wayback``; raises :class:`~sharc_crawler.errors.UsageError`, which says how to install it."""
    named = environment.get(PYWB)
    folder = Path(named).expanduser() if named else None
    candidates = [folder / "wayback", folder / "bin" / "wayback"] if folder else []
    found = next((path for path in candidates if path.is_file()), None)
    if found is None and not folder and (on_path := shutil.which("wayback", path=environment.get("PATH"))):
        found = Path(on_path)
    if found is None:
        raise UsageError(f"{PYWB}={named!r} holds no pywb. {HOW_TO_GET}" if named else HOW_TO_GET)
    return found


@contextmanager
def replaying(folders: Sequence[Path], port: int = 0, dress: Callable[[Path], None] = lambda _: None) -> Iterator[str]:
    """Within the block, replay the folders' WARC files; yields the URL, on loopback only.

    ``dress`` adds files to the folder that pywb runs in.

    Raises :class:`~sharc_crawler.errors.UsageError` if there is nothing to show, no pywb, or the port is in use.
    """
    program = find_pywb(os.environ)
    if port:
        _take(port)
    with TemporaryDirectory(prefix="sharc-replay-") as place:
        _collect(folders, Path(place) / "collections" / COLLECTION)
        dress(Path(place))
        _lay_rules(program, Path(place))
        (Path(place) / "static").mkdir(exist_ok=True)
        (Path(place) / "static" / _OWN).write_text(place)
        port = port or _free_port()
        with (Path(place) / "log").open("w+") as log:
            started = subprocess.Popen(  # noqa: S603 - the program that the user named
                [program, "-p", str(port), "-b", "127.0.0.1"], cwd=place, stdout=log, stderr=log, env=_environment()
            )
            try:
                _wait(started, port, Path(place))
                yield f"http://127.0.0.1:{port}/{COLLECTION}/"
            finally:
                started.terminate()
                started.wait(20)


def moment(instant: Instant) -> str:
    """An instant in the form that replay tools use in URLs.

    >>> moment(1795000000.25)
    '20261118110640'
    """
    return datetime.fromtimestamp(instant, UTC).strftime("%Y%m%d%H%M%S")


def elsewhere(folders: Sequence[Path]) -> int:
    """How many payloads needed for a replay are missing here, as former captures store them."""
    return len(_lacking(folders))


def downloaded(folders: Sequence[Path]) -> list[str]:
    """When these missing payloads were downloaded, by the records that refer to them: it identifies their captures."""
    found = set[str]()
    for warc, offset in _lacking(folders).values():
        with suppress(OSError), warc.open("rb") as stream:
            record = read_at(stream, offset)
            if isinstance(record, Record) and (date := record.get("WARC-Refers-To-Date")):
                found.add(date)
    return sorted(found)


def _lacking(folders: Sequence[Path]) -> dict[str, tuple[Path, int]]:
    """Missing payloads by digest, with the place of a record that needs them."""
    held: set[str | None] = {None}  # a 304 without digest refers to this capture's own visit
    needed: dict[str | None, tuple[Path, int]] = {}
    for folder in folders:
        for index in folder.glob("*.cdxj"):
            for entry in read_index(index):
                if entry.mime == REVISIT:
                    needed.setdefault(entry.digest, (folder / entry.file, entry.offset))
                else:
                    held.add(entry.digest)
    return {digest: place for digest, place in needed.items() if digest is not None and digest not in held}


def lost_warcs(folders: Iterable[Path]) -> list[Path]:
    """WARC files that are missing while their index is there."""
    indexes = (index for folder in folders for index in sorted(folder.glob("*.cdxj")))
    warcs = (index.with_name(index.name.removesuffix(".cdxj") + SUFFIX) for index in indexes)
    return [warc for warc in warcs if not warc.exists()]


def _collect(folders: Sequence[Path], collection: Path) -> None:
    """Make a pywb collection of links to the files."""
    for part in ("archive", "indexes"):
        (collection / part).mkdir(parents=True)
    for folder in folders:
        warcs = sorted(folder.glob(f"*{SUFFIX}"))
        if not warcs:
            raise UsageError(f"{str(folder)!r} holds no WARC files; name a folder given as output=")
        for warc in warcs:
            with suppress(FileExistsError):  # a copy of the same file: names contain site, time and run
                (collection / "archive" / warc.name).symlink_to(warc.resolve())
    indexes = [index for folder in folders for index in sorted(folder.glob("*.cdxj"))]
    with (collection / "indexes" / "index.cdxj").open("w", encoding="utf-8") as out:  # one: pywb searches each file
        out.writelines(preferred(merged(indexes)))


def _lay_rules(program: Path, place: Path) -> None:
    """Write pywb's rules, so that links with session ids, which a crawl drops, find the captured pages."""
    if text := rules(program):
        (place / "rules.yaml").write_text(text, encoding="utf-8")
        with (place / "config.yaml").open("a") as config:
            config.write(f"rules_file: {place / 'rules.yaml'}\n")


def _free_port() -> int:
    """A free port below the range that systems assign, as pywb listens on it only some time later."""
    for port in secrets.SystemRandom().sample(_PORTS, 100):
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise SharcError("pywb needs a port of 127.0.0.1, and none of a hundred was free: name one with port=")


def _take(port: int) -> None:
    """Raise :class:`~sharc_crawler.errors.UsageError` if this port is in use."""
    with socket.socket() as free:
        free.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # closed connections do not matter
        try:
            free.bind(("127.0.0.1", port))
        except OSError as error:
            raise UsageError(f"--port {port}: {error.strerror}; without it any free port is taken") from error


def _environment() -> dict[str, str]:
    """The environment without variables of our Python environment."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))}


def _wait(started: subprocess.Popen[bytes], port: int, place: Path) -> None:
    """Wait until this pywb answers on its port."""
    deadline = time.monotonic() + _STARTING
    while time.monotonic() < deadline and started.poll() is None:
        if _serves(port, place) and started.poll() is None:
            return
        time.sleep(0.1)
    said = (place / "log").read_text(errors="replace").strip().splitlines()[-1:] or ["nothing"]
    raise SharcError(f"pywb did not start to listen on port {port}; its last words: {said[0]}")


def _serves(port: int, place: Path) -> bool:
    """Does the server on the port run in this folder?"""
    with closing(HTTPConnection("127.0.0.1", port, timeout=10)) as asked, suppress(OSError, HTTPException):
        asked.request("GET", f"/static/{_OWN}")
        return asked.getresponse().read(4096) == os.fsencode(place)
    return False


# -- URLs that links spell differently than they were requested, or that share an index key ----------------------------


_DROPPED = _PARAMETERS.pattern.replace(".*", "[^&]*")
_IN_PATH = ";jsessionid=[^/;?]*"
_BEFORE = "    url_normalize:\n"
_SAME = "".join(
    f"        - match: '(?i){expression}'\n          replace: '{by}'\n"
    for expression, by in (
        (_IN_PATH, ""),
        (rf"(?<=[?&])(?:{_DROPPED})&", ""),
        (rf"[?&](?:{_DROPPED})$", ""),
        (rf"({FORMS})\?(?:.*&)?{LEADS_ON}", r"\1"),  # pywb decodes %26: which parameters are the page's is unknown
    )
)
#: pywb's last rule finds URLs that differ only in the query; ours also those that differ in a session id in the path
_LAST = re.compile(r"(- url_prefix: ''\n +fuzzy_lookup:\n)( +)match: '\(\)'\n?")
#: lines of the index that pywb searches for URLs that differ only in the query, which takes a second or two; its
#: default of 100 covers 50 pages of a program
_LIMIT, MOST = re.compile(r"(?<=fuzzy_search_limit: ')\d+"), "10000"
_ANY = rf"(?i){_IN_PATH}|/?\?.*$"


def rules(program: Path) -> str:
    """The rules of pywb for URLs that are not in its index, extended by ours; empty: its rules have another form."""
    for path in program.resolve().parent.parent.glob("lib/python*/site-packages/pywb/rules.yaml"):
        own = path.read_text(encoding="utf-8")
        if _BEFORE in own and _LAST.search(own):
            return _LIMIT.sub(MOST, _LAST.sub(_last, own.replace(_BEFORE, _BEFORE + _SAME, 1)))
    return ""


def _last(found: re.Match[str]) -> str:
    indent = found[2]
    return f"{found[1]}{indent}re_type: sub\n{indent}match: '{_ANY}'\n{indent}replace: ''\n"


def preferred(lines: Iterable[str]) -> Iterator[str]:
    """The lines of a sorted index, without failures of one spelling of a URL if another one was answered.

    Keys are in lower case, so a replay cannot tell ``MAIN.HTM``, which does not exist, from ``main.htm``, which does.
    """
    for _, group in groupby(lines, key=lambda line: line.partition(" ")[0]):
        alike = list(group)
        if len({line.split(" ", 4)[3] for line in alike}) > 1:  # each has its URL first
            entries = list(index_lines(alike))
            answered = {one.url for one in entries if (one.status or "")[:1] not in ("4", "5")}
            alike = [line for line, one in zip(alike, entries, strict=True) if not answered or one.url in answered]
        yield from alike
