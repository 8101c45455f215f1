"""Machines of a fleet in network namespaces of their own: a hub with database, object store and sites, and workers.

Each service has an address of its own on the hub, so that a worker can be cut off from one of them alone: the hub's
answers to it vanish, as in a partition. Needs root and iproute2; names are this process's own, removed at the end.
"""

from __future__ import annotations

import os
import shutil
import subprocess

SERVICES = ("database", "objects", "sites", "standby")


def missing() -> str:
    """Why there can be none; empty: there can."""
    if os.geteuid() or not shutil.which("ip"):
        return "network namespaces need root and iproute2"
    name = f"probe{os.getpid()}"
    if subprocess.run(["ip", "netns", "add", name], capture_output=True).returncode:
        return "no network namespaces here"
    subprocess.run(["ip", "netns", "del", name], check=True)
    return ""


class Network:
    def __init__(self, workers: int, sites: int) -> None:
        self._id = os.getpid() % 10_000
        self.hub = f"sh{self._id}hub"
        self.workers = [f"sh{self._id}w{number}" for number in range(workers)]
        self._service = {name: f"10.77.{number}.1" for number, name in enumerate(SERVICES)}
        self.sites = [f"10.77.2.{number + 10}" for number in range(sites)]
        _ip("netns", "add", self.hub)
        self._in(self.hub, "link", "set", "lo", "up")
        for address in (*self._service.values(), *self.sites):
            self._in(self.hub, "addr", "add", f"{address}/32", "dev", "lo")
        for number, name in enumerate(self.workers):
            self._join(number, name)

    def address(self, service: str) -> str:
        return self._service[service]

    def worker_address(self, number: int) -> str:
        return f"10.78.{number}.2"

    def words(self, namespace: str) -> list[str]:
        """Before a command that is to run there."""
        return ["ip", "netns", "exec", namespace]

    def cut(self, number: int, service: str, *, off: bool = True) -> None:
        """Nothing of a service reaches a worker any more; ``off=False``: it does again."""
        place = SERVICES.index(service)
        rule = ("from", f"10.77.{place}.0/24", "to", self.worker_address(number), "blackhole")
        self._in(self.hub, "rule", "add" if off else "del", *rule)
        self._in(self.hub, "route", "flush", "cache")

    def close(self) -> None:
        for name in (self.hub, *self.workers):
            subprocess.run(["ip", "netns", "del", name], capture_output=True)

    def _join(self, number: int, name: str) -> None:
        _ip("netns", "add", name)
        here, there = f"h{self._id}{number}", f"w{self._id}{number}"
        _ip("link", "add", here, "netns", self.hub, "type", "veth", "peer", "name", there, "netns", name)
        for space, device, end in ((self.hub, here, 1), (name, there, 2)):
            self._in(space, "addr", "add", f"10.78.{number}.{end}/24", "dev", device)
            self._in(space, "link", "set", device, "up")
            self._in(space, "link", "set", "lo", "up")
        self._in(name, "route", "add", "10.77.0.0/16", "via", f"10.78.{number}.1")

    def _in(self, namespace: str, *words: str) -> None:
        _ip("-n", namespace, *words)


def _ip(*words: str) -> None:
    subprocess.run(["ip", *words], check=True, capture_output=True, text=True)
