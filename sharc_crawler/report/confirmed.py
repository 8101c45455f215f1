"""What a confirmation (:mod:`..certificate.confirming`) leaves of a claim, in words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.instants import second, unix
from sharc_crawler.model import Verdict
from sharc_crawler.plural import counted
from sharc_crawler.report.claim import Claim, sentence


def confirmed(confirmation: Mapping[str, Any]) -> Iterator[str]:
    """What a confirmation (:mod:`..certificate.confirming`) says of a claim, in lines."""
    left = [one for one in confirmation["pages"] if one["evidence"] == Evidence.PROVISIONAL]
    lost = sum(one["verdict"] != Verdict.COHERENT for one in confirmation["pages"])
    read = second(unix(confirmation["read"]["to"]))
    yield f"confirmed by the sitemaps of {read}: {counted(confirmation['confirmed'], 'page')}"
    if lost:
        yield f"no longer claimed: {counted(lost, 'page')}, changed before the reference instant as they now say"
    if left:
        yield f"still provisional: {counted(len(left), 'page')}, of whose time before it they say nothing any more"
    yield f"so {sentence(confirmation['capture']['claim'])}"
    yield f"digest {confirmation['digest']}"


def standing_claims(certified: Iterable[Claim], confirmation: Mapping[str, Any] | None) -> list[str]:
    """What a package's description has to say: what was certified, and what a confirmation says of that."""
    later = [*confirmed(confirmation)][:-1] if confirmation else []
    return [*map(sentence, certified), *(f"{line[0].upper()}{line[1:].rstrip('.')}." for line in later)]
