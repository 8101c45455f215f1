"""A PostgreSQL primary and a synchronous standby, on addresses of the network's hub."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from pathlib import Path

USER = "postgres"


def program(name: str) -> str:
    """Of the newest version that Debian has installed."""
    (*_, newest) = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name))
    return str(newest / name)


class Databases:
    def __init__(self, words: list[str], primary: str, standby: str) -> None:
        self.folder = Path(f"/tmp/sharc-chaos-pg-{os.getpid()}")  # its owner is PostgreSQL's own user
        self.folder.mkdir(mode=0o700)
        shutil.chown(self.folder, USER)
        self._words, self._addresses = words, {"a": primary, "b": standby}
        self._servers: dict[str, subprocess.Popen[bytes]] = {}
        self.primary = "a"
        data = self.folder / "a"
        self._run("initdb", "-D", data, "-U", USER, "-A", "trust", "--no-sync", "-E", "UTF8", "--no-locale")
        with (data / "pg_hba.conf").open("a") as rules:
            rules.write("host all all 10.0.0.0/8 trust\nhost replication all 10.0.0.0/8 trust\n")
        self.start("a")
        self._run("pg_basebackup", "-h", primary, "-U", USER, "-D", self.folder / "b", "-R", "-X", "stream")
        self.start("b")
        self._sql("a", "ALTER SYSTEM SET synchronous_standby_names = '*'")
        self._sql("a", "SELECT pg_reload_conf()")

    @property
    def dsn(self) -> str:
        hosts = ",".join(f"{address}:5432" for address in self._addresses.values())
        return f"postgresql://{USER}@{hosts}/postgres?target_session_attrs=read-write&connect_timeout=3"

    def start(self, name: str) -> None:
        options = {"listen_addresses": self._addresses[name], "unix_socket_directories": "", "port": 5432}
        command = [program("postgres"), "-D", self.folder / name, *(f"--{key}={one}" for key, one in options.items())]
        log = (self.folder / f"{name}.log").open("ab")
        words = [*self._words, *_as_user(), *map(str, command)]
        self._servers[name] = subprocess.Popen(words, stdout=log, stderr=log, cwd="/tmp")
        deadline = time.monotonic() + 60
        ready = [*self._words, program("pg_isready"), "-q", "-h", self._addresses[name]]
        while subprocess.run(ready).returncode:
            if time.monotonic() > deadline:
                raise TimeoutError((self.folder / f"{name}.log").read_text()[-2000:])
            time.sleep(0.1)

    def crash(self, name: str) -> None:
        """An immediate stop: it recovers when it is started again."""
        pid = int((self.folder / name / "postmaster.pid").read_text().split("\n")[0])
        os.kill(pid, signal.SIGQUIT)
        self._servers.pop(name).wait(60)

    def fail_over(self) -> None:
        """The primary is gone; the standby takes over, alone."""
        self.crash("a")
        self._run("pg_ctl", "promote", "-D", self.folder / "b", "-w")
        self._sql("b", "ALTER SYSTEM SET synchronous_standby_names = ''")
        self._sql("b", "SELECT pg_reload_conf()")
        self.primary = "b"

    def close(self) -> None:
        for name in list(self._servers):
            self.crash(name)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _sql(self, name: str, statement: str) -> None:
        self._run("psql", "-q", "-h", self._addresses[name], "-U", USER, "-d", "postgres", "-c", statement)

    def _run(self, name: str, *words: object) -> None:
        command = [*self._words, *_as_user(), program(name), *map(str, words)]
        subprocess.run(command, check=True, capture_output=True, cwd="/tmp", timeout=120)


def _as_user() -> list[str]:
    return ["setpriv", "--reuid", USER, "--regid", USER, "--clear-groups"]
