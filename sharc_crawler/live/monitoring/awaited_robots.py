"""Whose robots.txt could not be had, and is waited for."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sharc_crawler.frontier.sites import Sites


def unread(sites: Sites) -> str:
    """What is added to the line that a person reads; empty: nobody's."""
    hosts = [host.name for one in sites for host in one.ledger.hosts if host.waits and host.retries]
    others = f" and {len(hosts) - 1} more" if hosts[1:] else ""
    return f", waits for {hosts[0]}{others}: no robots.txt yet, asked for again" if hosts else ""
