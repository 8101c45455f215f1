"""The warcinfo record, which describes the capture at the beginning of each WARC file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sharc_crawler.archive.records import named_fields

#: fields of a warcinfo record that sharc writes, so that archives must not
OWN_FIELDS = (
    "software", "format", "conformsTo", "operator", "robots", "strategy", "strategy-parameters",
    "http-header-user-agent", "site", "run", "deduplication", "session", "began",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CaptureInfo:
    """The description of a capture in each file's first record (warcinfo)."""

    software: str
    operator: str  #: who made it, and how to contact them
    robots: str  #: policy towards robots.txt
    strategy: str
    parameters: Mapping[str, Any] = field(default_factory=dict)  #: the strategy's
    user_agent: str | None = None
    session: str = ""  #: whose session was used, and whether its secrets are recorded; empty: none
    began: str = ""  #: when the crawl that opened the file began, as a WARC date
    further: tuple[tuple[str, str], ...] = ()  #: fields that the archive adds, such as ``publisher``

    def fields(self) -> list[tuple[str, str]]:
        """The facts as named fields of a warcinfo record.

        >>> CaptureInfo("sharc", "me@example.org", "obey", "bfs", {"size": 9}).fields()[-1]
        ('strategy-parameters', '{"size": 9}')
        """
        known = [
            ("software", self.software),
            ("format", "WARC File Format 1.1"),
            ("conformsTo", "http://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/"),
            ("operator", self.operator),
            ("robots", self.robots),
            ("strategy", self.strategy),
            ("strategy-parameters", json.dumps(dict(self.parameters), sort_keys=True)),
        ]
        agent = [("http-header-user-agent", self.user_agent)] if self.user_agent else []
        session = [("session", self.session)] if self.session else []
        began = [("began", self.began)] if self.began else []
        return [*known, *agent, *session, *began, *((name, value) for name, value in self.further)]

    def block(self, site: str, run: str, dedup: str) -> bytes:
        """The record's block for the files of a site and run."""
        return named_fields([*self.fields(), ("site", site), ("run", run), ("deduplication", dedup)])
