"""``python -m scrapy …`` and ``sharc …`` in processes forked from one that has loaded the modules: half of their time.

The processes that such a crawl has beside it are forked from the same one. What a cold start alone can show (modules
loaded, interpreter flags, locales) is for tests that run the real command.
"""

from __future__ import annotations

import atexit
import faulthandler
import gc
import json
import os
import resource
import select
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import suppress
from functools import cache, partial
from importlib import import_module, metadata
from pathlib import Path
from runpy import run_path
from typing import IO, TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

PROFILE = "sharc_crawler.live.profile"
SHARC = "sharc_crawler.cli:main"
ROOT = Path(__file__).resolve().parents[2]
SHARED = "SHARC_TESTS_FORKER"  #: where one listens for all processes that test (tests/conftest.py)
#: what many crawls load; a crawl loads the rest itself
LOADED = """
scipy.special rich.console twisted.internet.asyncioreactor
scrapy.cmdline scrapy.commands.crawl scrapy.commands.runspider scrapy.core.downloader.handlers.http11 scrapy.crawler
scrapy.downloadermiddlewares.httpcompression scrapy.downloadermiddlewares.retry scrapy.extensions.corestats
scrapy.extensions.feedexport scrapy.extensions.logstats scrapy.extensions.memusage scrapy.extensions.throttle
scrapy.logformatter scrapy.shell scrapy.spidermiddlewares.referer scrapy.spidermiddlewares.start
scrapy.commands.bench scrapy.commands.check scrapy.commands.parse scrapy.commands.startproject
scrapy.core.downloader.handlers.ftp scrapy.core.downloader.handlers.s3 scrapy.downloadermiddlewares.cookies
scrapy.downloadermiddlewares.httpcache scrapy.downloadermiddlewares.robotstxt scrapy.extensions.closespider
scrapy.extensions.memdebug scrapy.extensions.remote_control scrapy.extensions.spiderstate scrapy.spidermiddlewares.depth
scrapy.spidermiddlewares.httperror scrapy.spidermiddlewares.urllength
scrapy.commands.edit scrapy.commands.fetch scrapy.commands.genspider scrapy.commands.list scrapy.commands.settings
scrapy.commands.version scrapy.commands.view scrapy.core.downloader.handlers.datauri
scrapy.core.downloader.handlers.file scrapy.downloadermiddlewares.defaultheaders
scrapy.downloadermiddlewares.downloadtimeout scrapy.downloadermiddlewares.httpproxy
scrapy.downloadermiddlewares.redirect scrapy.downloadermiddlewares.useragent scrapy.extensions.logcount
scrapy.commands.shell scrapy.downloadermiddlewares.httpauth scrapy.downloadermiddlewares.offsite
scrapy.downloadermiddlewares.stats scrapy.dupefilters scrapy.exporters scrapy.extensions.telnet scrapy.pqueues
scrapy.spidermiddlewares.metacopy scrapy.squeues scrapy.utils.serialize encodings.cp1252 xml.sax.saxutils
scrapy.statscollectors sharc_crawler.live.wire.names sharc_crawler.storage.frontier_reading
sharc_crawler.certificate.unlisted sharc_crawler.frontier.besides_links sharc_crawler.frontier.trying_again
sharc_crawler.frontier.trying_again sharc_crawler.links.robots_rules sharc_crawler.live.former.history
sharc_crawler.live.failures.failed_exchanges sharc_crawler.live.failures.error_texts sharc_crawler.live.without_project
sharc_crawler.live.outside sharc_crawler.live.profile sharc_crawler.live.project.beginning
sharc_crawler.live.project.scheduler
sharc_crawler.live.wire.listening sharc_crawler.live.retry_after sharc_crawler.rates.make sharc_crawler.report.left_out
sharc_crawler.strategies.organ_pipes sharc_crawler.strategies.ranked
sharc_crawler.archive.former_answers sharc_crawler.collection.crawl_arguments sharc_crawler.evidence.conditionals
sharc_crawler.evidence.details sharc_crawler.frontier.modes.by_lastmods sharc_crawler.frontier.modes.hints
sharc_crawler.frontier.modes.rate_tests sharc_crawler.live.former.remembering sharc_crawler.live.former.validators
sharc_crawler.live.setup.unfinished sharc_crawler.storage.observations
sharc_crawler.strategies.attested sharc_crawler.strategies.baselines
sharc_crawler.archive.warc sharc_crawler.certificate.writing sharc_crawler.live.addon sharc_crawler.live.extension
sharc_crawler.live.project.clashes sharc_crawler.live.commands.crawl
sharc_crawler.live.monitoring.control sharc_crawler.live.project.dropin
sharc_crawler.live.closing sharc_crawler.live.ending sharc_crawler.live.middlewares
sharc_crawler.live.reading.reader_process
sharc_crawler.live.former.state_check sharc_crawler.live.project.resuming
sharc_crawler.live.scheduler sharc_crawler.live.spiders.site sharc_crawler.live.wire.handler
sharc_crawler.live.writing.writer_process
sharc_crawler.rates.learned sharc_crawler.rates.together sharc_crawler.report.html
sharc_crawler.report.terminal sharc_crawler.report.write sharc_crawler.storage.sqlite
sharc_crawler.strategies.selective
"""


class Scrapy:
    """One that runs, with the methods of :class:`subprocess.Popen` that tests need; its output is had at its end.

    Parameters
    ----------
    words: after ``scrapy``, or after what ``program`` is
    env: without it, what makes ``scrapy crawl site`` known is added to ours
    apart: stderr is kept for itself
    group: a process group of its own, as a shell's job
    out: where its output goes instead
    program: module and function, or a script in that folder

    """

    def __init__(
        self,
        words: Sequence[str],
        cwd: Path,
        env: Mapping[str, str] | None = None,
        *,
        apart: bool = False,
        group: bool = False,
        out: IO[bytes] | None = None,
        program: str = "scrapy.cmdline:execute",
    ) -> None:
        env = {**os.environ, "SCRAPY_SETTINGS_MODULE": PROFILE} if env is None else env
        self.returncode: int | None = None
        self._told: tuple[str, str] | None = None
        self._out = out or tempfile.TemporaryFile()  # noqa: SIM115 - as long as this
        self._err = tempfile.TemporaryFile() if apart else None  # noqa: SIM115
        order = json.dumps(
            {"words": list(words), "cwd": str(cwd), "env": dict(env), "group": group, "program": program}
        ).encode()
        self.pid = self._ordered(order)

    def _ordered(self, order: bytes) -> int:
        """Have it forked; a forker that was killed since it was last wanted is replaced."""
        files = [self._out.fileno(), (self._err or self._out).fileno()]
        for _ in range(2):
            self._forker, place = _forker()
            with suppress(ConnectionError):
                self._end, pid = _asked(place, order, files)
                return pid
            _forker.cache_clear()
        raise AssertionError(self._has_ended())

    def _has_ended(self) -> str:
        return f"who forks crawls has ended (exit code {self._forker and self._forker.poll()})"

    def wait(self, timeout: float | None = None) -> int:
        if self.returncode is None:
            self._end.settimeout(timeout)
            try:
                code = self._end.recv(4)
            except TimeoutError:
                raise subprocess.TimeoutExpired("scrapy", timeout or 0) from None
            assert code, self._has_ended()
            self.returncode = int.from_bytes(code, signed=True)
            self._end.close()
        return self.returncode

    def poll(self) -> int | None:
        with suppress(subprocess.TimeoutExpired, BlockingIOError):
            return self.wait(0)
        return None

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """What it wrote, once it has ended."""
        self.wait(timeout)
        if self._told is None:
            self._told = _text(self._out), _text(self._err) if self._err else ""
        return self._told

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):  # it ended just now
                os.kill(self.pid, number)

    def kill(self) -> None:
        self.send_signal(9)


class Beside:
    """In a crawl that was forked: a process beside it, with what :mod:`sharc_crawler.live.writing.child` asks."""

    def __init__(self, place: str, module: str, connection: socket.socket) -> None:
        self.returncode: int | None = None
        order = {
            "words": [module],
            "cwd": str(Path.cwd()),
            "path": sys.path,
            "env": dict(os.environ),
            "group": os.getpgid(0),
            "program": f"{module}:main",
            "files": resource.getrlimit(resource.RLIMIT_NOFILE),
        }
        self._end, self.pid = _asked(place, json.dumps(order).encode(), [1, 2, connection.fileno()])

    def wait(self) -> int:
        if self.returncode is None:
            with self._end:
                code = self._end.recv(4)  # nothing: who forks was ended
            self.returncode = int.from_bytes(code, signed=True) if code else -signal.SIGKILL
        return self.returncode

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def _asked(place: str | Path, order: bytes, files: Sequence[int]) -> tuple[socket.socket, int]:
    """Where to hear of the end of a process that was forked, and its number."""
    end = socket.socket(socket.AF_UNIX)
    try:
        end.connect(str(place))
        socket.send_fds(end, [len(order).to_bytes(4)], files)
        end.sendall(order)
        if pid := end.recv(4):
            return end, int.from_bytes(pid)
    except ConnectionError:
        end.close()
        raise
    end.close()
    raise ConnectionError(place)


def site_words(*settings: str, **arguments: object) -> list[str]:
    """The words of ``crawl site -a … -s …``; a page that fails at first is tried again soon."""
    given = [text for name, value in arguments.items() for text in ("-a", f"{name}={value}")]
    return ["crawl", "site", *given, *(text for one in ("SHARC_BACK_OFF=0.2", *settings) for text in ("-s", one))]


def finished(
    words: Sequence[str], cwd: Path, env: Mapping[str, str] | None = None, *, timeout: float = 560, **more: str
) -> subprocess.CompletedProcess[str]:
    """Run it to its end; one that does not come to it tells where its threads are."""
    process = Scrapy(words, cwd, env, apart=True, **more)
    try:
        out, err = process.communicate(timeout)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGABRT)
        out, err = process.communicate(60)
        raise AssertionError(f"{words} did not end within {timeout} s:\n{out}\n{err}") from None
    finally:
        process.kill()
    return subprocess.CompletedProcess(list(words), process.wait(), out, err)


def _text(file) -> str:
    with file:
        file.seek(0)
        return file.read().decode()


@cache
def _forker() -> tuple[subprocess.Popen | None, Path]:
    """The process that forks, and where it listens: that of all processes that test, or of this one."""
    return (None, Path(shared)) if (shared := os.environ.pop(SHARED, None)) else begun()


def begun() -> tuple[subprocess.Popen, Path]:
    """A process that forks; it loads the modules when a crawl is wanted, and ends with this one."""
    place = Path(tempfile.mkdtemp(prefix="warm-")) / "socket"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(place))
        listener.listen()
        forker = subprocess.Popen(
            [sys.executable, "-m", __spec__.name, str(listener.fileno())],
            pass_fds=[listener.fileno()],
            stdin=subprocess.PIPE,
            cwd=ROOT,
        )
    return forker, place


def main() -> None:
    """Fork a crawl for each order; tell its number, and its exit code once it has ended."""
    listener = socket.socket(fileno=int(sys.argv[1]))
    place = listener.getsockname()
    if select.select([listener, 0], [], [])[0] == [listener]:
        _load()
    if order := _orders(listener):  # the crawl: it ends as a program does
        module, _, function = order["program"].partition(":")
        sys.argv = [module.partition("_crawler")[0].partition(".")[0], *order["words"]]
        if "files" not in order:
            sys.modules["sharc_crawler.live.writing.child"]._started = partial(Beside, place)
        run = getattr(import_module(module), function) if function else partial(run_path, module, run_name="__main__")
        _end(_code(run))
    else:
        Path(place).unlink()
        Path(place).parent.rmdir()


def _code(run: Callable[[], object]) -> int:
    """The exit code of what a program is; where it is to be told, as by a traceback, the interpreter does so."""
    try:
        run()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        return end.code or 0
    return 0


def _end(code: int) -> NoReturn:
    """As the interpreter ends, but for taking all modules apart, which takes a quarter of a crawl's time."""
    threading._shutdown()
    atexit._run_exitfuncs()
    gc.collect()  # Twisted tells of what nobody handled
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except (OSError, ValueError):
        sys.exit(code)
    os._exit(code)


def _load() -> None:
    _know_what_is_installed()
    for name in LOADED.split():
        with suppress(ModuleNotFoundError):  # older Scrapys have less
            import_module(name)
    templates = sys.modules["sharc_crawler.report.html"].environment()
    for name in templates.list_templates():
        templates.get_template(name)
    report = sys.modules["sharc_crawler.report.load"]
    for name in report.SOFTWARE:
        report._version(name)
    with suppress(AttributeError):
        sys.modules["scrapy.utils.versions"].get_versions()
    gc.collect()
    gc.freeze()  # what is loaded stays shared


def _know_what_is_installed() -> None:
    """Versions and entry points are read once, not by each process that is forked, which has but folders of its own."""
    path, known = set(sys.path), [point for one in metadata.distributions() for point in one.entry_points]

    def entry_points(**wanted: str) -> metadata.EntryPoints:
        own = metadata.distributions(path=[folder for folder in sys.path if folder not in path])
        return metadata.EntryPoints([*(point for one in own for point in one.entry_points), *known]).select(**wanted)

    metadata.entry_points, metadata.version = entry_points, cache(metadata.version)


def _orders(listener: socket.socket) -> dict | None:
    """Nothing where the tests have ended; in a process that was forked, what it is to run."""
    with selectors.DefaultSelector() as waiting:
        waiting.register(listener, selectors.EVENT_READ)
        waiting.register(0, selectors.EVENT_READ)
        while True:
            for key, _ in waiting.select():
                if key.fd == 0:
                    return None
                if key.fileobj is not listener:
                    _tell(waiting, key)
                    continue
                connection, _ = listener.accept()
                if not (order := _order(connection)):  # who asked has ended meanwhile
                    connection.close()
                    continue
                order, files = order
                if not (child := os.fork()):
                    for one in (connection, *(other.fileobj for other in waiting.get_map().values() if other.fd)):
                        one.close()
                    return _moved_in(order, files)
                for file in files:
                    os.close(file)
                with suppress(ConnectionError):
                    connection.sendall(child.to_bytes(4))
                waiting.register(_Ending(child), selectors.EVENT_READ, connection)


class _Ending:
    """What can be read when a child has ended."""

    def __init__(self, child: int) -> None:
        self.child, self._file = child, os.pidfd_open(child)

    def fileno(self) -> int:
        return self._file

    def close(self) -> None:
        os.close(self._file)


def _order(connection: socket.socket) -> tuple[dict, list[int]] | None:
    size, files, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as stream:
        text = stream.read(int.from_bytes(size))
    if size and len(text) == int.from_bytes(size):
        return json.loads(text), files
    for file in files:
        os.close(file)
    return None


def _tell(waiting: selectors.BaseSelector, key: selectors.SelectorKey) -> None:
    waiting.unregister(key.fileobj)
    key.fileobj.close()
    _, status = os.waitpid(key.fileobj.child, 0)
    with key.data as connection, suppress(ConnectionError):
        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(4, signed=True))


def _moved_in(order: dict, files: list[int]) -> dict:
    """The folder, the environment and the streams of a process of its own."""
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for stream, file in zip((1, 2, 0), files, strict=False):
        os.dup2(file, stream)
        os.close(file)
    faulthandler.enable()
    os.environ.clear()
    os.environ.update(order["env"])
    os.chdir(order["cwd"])
    if "files" in order:
        _beside(order)
    else:
        if order["group"]:
            os.setpgid(0, 0)
        sys.path[:1] = [order["cwd"], *filter(None, order["env"].get("PYTHONPATH", "").split(os.pathsep))]
    return order


def _beside(order: dict) -> None:
    """What a process inherits of the crawl that it is beside; its module's name is the process's."""
    signal.pthread_sigmask(signal.SIG_BLOCK, sys.modules["sharc_crawler.live.writing.child"]._STOPS)
    with suppress(OSError):  # the crawl has ended
        os.setpgid(0, order["group"])
    resource.setrlimit(resource.RLIMIT_NOFILE, order["files"])
    sys.path[:] = order["path"]
    Path("/proc/self/comm").write_text(order["words"][0].rpartition(".")[2])


if __name__ == "__main__":
    main()
