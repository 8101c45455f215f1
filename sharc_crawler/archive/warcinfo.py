"""What each WARC file tells of its capture, for later readers."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from sharc_crawler.archive.options import OWN_FIELDS
from sharc_crawler.archive.records import named_fields

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class CaptureInfo:
    """What each file's first record (warcinfo) tells of the capture."""

    software: str
    operator: str  #: who made it and how to reach them
    robots: str  #: policy towards robots.txt
    strategy: str
    parameters: Mapping[str, Any] = field(default_factory=dict)  #: the strategy's
    user_agent: str | None = None
    session: str = ""  #: whose requests these are, and whether their secrets are there; empty: nobody's
    began: str = ""  #: when the crawl that opened the file did, as a WARC date
    further: tuple[tuple[str, str], ...] = ()  #: fields that the archive adds: ``publisher``, ``isPartOf``, …

    @classmethod
    def parse(cls, block: bytes) -> CaptureInfo:
        r"""The facts from the block of a warcinfo record that :meth:`fields` went into.

        >>> told = CaptureInfo.parse(b"software: sharc\r\noperator: me\r\npublisher: A Library\r\n")
        >>> told.operator, told.further
        ('me', (('publisher', 'A Library'),))
        """
        lines = (line.partition(": ") for line in block.decode("utf-8", "replace").split("\r\n"))
        known = {name: value for name, _, value in lines if name}
        return cls(
            software=known.get("software", ""),
            operator=known.get("operator", ""),
            robots=known.get("robots", ""),
            strategy=known.get("strategy", ""),
            parameters=json.loads(known.get("strategy-parameters", "{}")),
            user_agent=known.get("http-header-user-agent"),
            session=known.get("session", ""),
            began=known.get("began", ""),
            further=tuple((name, value) for name, value in known.items() if name not in OWN_FIELDS),
        )

    def fields(self) -> list[tuple[str, str]]:
        """The same facts as named fields of a warcinfo record.

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
        """The record's block, for a file of a run of a site."""
        return named_fields([*self.fields(), ("site", site), ("run", run), ("deduplication", dedup)])
