"""A PostgreSQL server in a folder, on a socket there and a free port of loopback; ended by its own process id."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path
from tempfile import mkdtemp

from tests.ports import free_port

OWNER = "postgres"  # where we are root, which PostgreSQL refuses to run as
DEBIAN = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))


def program(name: str) -> str | None:
    found = shutil.which(name)
    return found or next((str(path / name) for path in reversed(DEBIAN) if (path / name).exists()), None)


def missing() -> str:
    """Why there can be no server; empty: there can."""
    if program("initdb") is None:
        return "PostgreSQL is not installed (Debian: apt-get install postgresql)"
    if os.geteuid() == 0 and OWNER not in {entry.pw_name for entry in pwd.getpwall()}:
        return f"PostgreSQL does not run as root, and there is no user {OWNER}"
    try:
        import psycopg  # noqa: F401
    except ImportError as error:
        return str(error)
    return ""


class Database:
    def __init__(self, folder: Path) -> None:
        # a socket's path is short, and the folder is the server's own user's
        self.folder = Path(mkdtemp(prefix=f"sharc-pg-{folder.name}-", dir="/tmp"))  # a killed run may have left one
        if os.geteuid() == 0:
            shutil.chown(self.folder, OWNER)
        self.data = self.folder / "data"
        self._numbers = itertools.count(1)
        self._run("initdb", "-D", self.data, "-U", OWNER, "-A", "trust", "--no-sync", "-E", "UTF8", "--no-locale")
        self.port = free_port()
        self.start()

    def start(self) -> None:
        options = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": self.folder}
        command = [program("postgres"), "-D", self.data, *(f"--{name}={value}" for name, value in options.items())]
        self.log = (self.folder / "log").open("ab")
        self._server = subprocess.Popen(list(map(str, command)), stdout=self.log, stderr=self.log, **_user())
        deadline = time.monotonic() + 240
        while subprocess.run([program("pg_isready"), "-q", "-h", self.folder, "-p", str(self.port)]).returncode:
            assert self._server.poll() is None, (self.folder / "log").read_text()
            assert time.monotonic() < deadline, "PostgreSQL did not start"
            time.sleep(0.05)

    def new(self) -> str:
        """The DSN of a schema of its own, without tables."""
        import psycopg

        name = f"fleet{next(self._numbers)}"
        dsn = f"postgresql://{OWNER}@127.0.0.1:{self.port}/postgres"
        with psycopg.connect(dsn, autocommit=True) as db:
            db.execute(f"CREATE SCHEMA {name}")
        return f"{dsn}?options=-csearch_path%3D{name}"

    @property
    def pid(self) -> int:
        """Of the server, whose children its other processes are."""
        return self._server.pid

    def stop(self, how: signal.Signals = signal.SIGQUIT) -> None:
        """SIGQUIT: immediately, as in a crash."""
        self._server.send_signal(how)
        self._server.wait(240)
        self.log.close()
        if how is signal.SIGQUIT:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _run(self, name: str, *arguments: object) -> None:
        subprocess.run([program(name), *map(str, arguments)], check=True, capture_output=True, **_user())


def _user() -> dict[str, object]:
    return {"user": OWNER, "cwd": "/tmp"} if os.geteuid() == 0 else {}
