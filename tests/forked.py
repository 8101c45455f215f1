"""Tests in processes forked from the one that has collected them: nothing is loaded or collected twice.

A file's tests run in one process, one after the other, so that what they share is made once.
"""

from __future__ import annotations

import asyncio
import os
import sys
import traceback
import warnings
from collections import deque
from contextlib import suppress
from itertools import groupby
from multiprocessing.connection import Connection, Pipe, wait
from signal import SIG_IGN, SIGINT, default_int_handler, signal
from types import SimpleNamespace

import pytest


class Forked:
    """In the process that has collected: tells the others what to test, and reports what they tell."""

    def __init__(self, number: int) -> None:
        self.number, self.begun = number, 0
        self.files: deque[deque[int]] = deque()
        self.others: dict[Connection, Other] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if session.testsfailed or session.config.option.collectonly:
            return None  # pytest's own loop says so
        places = range(len(session.items))
        self.files.extend(deque(file) for _, file in groupby(places, key=lambda place: session.items[place].path))
        session.config._tmp_path_factory.getbasetemp()  # theirs lie in it
        try:
            while self.files and len(self.others) < self.number:
                self._begin(session)
            while self.others:
                for connection in wait(list(self.others)):
                    self._hear(session, connection)
        finally:
            for other in self.others.values():  # one of them is out of order, or we were interrupted
                os.kill(other.pid, SIGINT)
                os.waitpid(other.pid, 0)
        if session.shouldfail:
            raise session.Failed(session.shouldfail)
        if session.shouldstop:
            raise session.Interrupted(session.shouldstop)
        return True

    def _begin(self, session: pytest.Session) -> None:
        ours, theirs = Pipe()
        self.begun += 1
        sys.stdout.flush()
        if not (pid := os.fork()):
            for one in (ours, *self.others):
                one.close()
            _live(session, theirs, self.begun)
        theirs.close()
        self.others[ours] = Other(pid)
        self._go_on(session, ours)

    def _go_on(self, session: pytest.Session, connection: Connection) -> None:
        """With the next test of its file, or of the next file; with none it ends."""
        other, order = self.others[connection], None
        if not (session.shouldfail or session.shouldstop):
            if not other.file and self.files:
                other.file = self.files.popleft()
            if other.file:
                other.at = other.file.popleft()
                order = other.at, other.file[0] if other.file else None
        with suppress(ConnectionError):  # of its end we hear at the next turn
            connection.send(order)

    def _hear(self, session: pytest.Session, connection: Connection) -> None:
        hook = session.config.hook
        try:
            reports, warned = connection.recv()
        except (EOFError, ConnectionError):
            self._has_ended(session, connection)
            return
        for text, category, filename, line, more in warned:
            message = warnings.WarningMessage(text, type(category, (Warning,), {}), filename, line)
            hook.pytest_warning_recorded.call_historic(kwargs={"warning_message": message, "location": None, **more})
        for data in reports:
            report = hook.pytest_report_from_serializable(config=session.config, data=data)
            hook.pytest_runtest_logreport(report=report)
        self._go_on(session, connection)

    def _has_ended(self, session: pytest.Session, connection: Connection) -> None:
        """Where it was not to, the test that it was at has failed, and another process goes on with the next one."""
        other = self.others.pop(connection)
        connection.close()
        _, status = os.waitpid(other.pid, 0)
        if status:
            item = session.items[other.at]
            why = f"the process that ran it ended with exit code {os.waitstatus_to_exitcode(status)}"
            report = pytest.TestReport(item.nodeid, item.location, {}, "failed", why, "call")
            session.config.hook.pytest_runtest_logreport(report=report)
            if other.file:
                self.files.appendleft(other.file)
            if self.files:
                self._begin(session)


class Other:
    """A process that tests: what is left of its file, and which test it is at."""

    def __init__(self, pid: int) -> None:
        self.pid, self.at = pid, 0
        self.file: deque[int] = deque()


class Telling:
    """In a process that tests: what is to be told of a test."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.reports: list[dict] = []
        self.warned: list[tuple] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.reports.append(self.config.hook.pytest_report_to_serializable(config=self.config, report=report))

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, when: str, nodeid: str) -> None:
        one = warning_message
        more = {"when": when, "nodeid": nodeid}
        self.warned.append((str(one.message), one.category.__name__, one.filename, one.lineno, more))

    def told(self) -> tuple[list[dict], list[tuple]]:
        told, self.reports, self.warned = (self.reports, self.warned), [], []
        return told


def _live(session: pytest.Session, connection: Connection, number: int) -> None:
    """The life of a process that tests."""
    code = 1
    try:
        _part(session.config, number)
        telling = Telling(session.config)
        session.config.pluginmanager.register(telling)
        while order := connection.recv():
            item, following = (session if place is None else session.items[place] for place in order)
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            connection.send(telling.told())
        code = 0
    except KeyboardInterrupt:
        code = 2
    finally:
        _end(session, code)


def _end(session: pytest.Session, code: int) -> None:
    """What tests have in common ends with them, servers among it."""
    signal(SIGINT, SIG_IGN)
    try:
        if error := sys.exception():
            traceback.print_exception(error)
        session._setupstate.teardown_exact(None)
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stderr.flush()
        os._exit(code)


def _part(config: pytest.Config, number: int) -> None:
    """What processes must not share: captured output, the terminal, temporary folders, the reactor.

    And they can be interrupted, where a shell's job in the background cannot.
    """
    signal(SIGINT, default_int_handler)
    if capturing := config.pluginmanager.getplugin("capturemanager"):
        capturing.stop_global_capturing()
        capturing.start_global_capturing()
        capturing.suspend_global_capture()
    terminal = config.pluginmanager.unregister(name="terminalreporter")
    config.pluginmanager.register(SimpleNamespace(_tw=terminal._tw), "terminalreporter")  # stacks are written there
    places = config._tmp_path_factory
    places._basetemp = places.mktemp(f"process-{number}", numbered=False)
    if sys.modules.pop("twisted.internet.reactor", None):
        import pytest_twisted

        asyncio.set_event_loop(asyncio.new_event_loop())
        pytest_twisted._instances.gr_twisted = None
        pytest_twisted.init_asyncio_reactor()
