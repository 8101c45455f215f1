"""``sharc verify``: a capture's certificate, proved from its WARC files."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from itertools import islice
from pathlib import Path
from typing import Any

import click

from sharc_crawler.archive.wacz import WACZ
from sharc_crawler.certificate.sealing import Trust
from sharc_crawler.certificate.sources import captures_in, irregular
from sharc_crawler.certificate.verify import Verification, total_size, verify
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.cli._inputs import regular, require_capture
from sharc_crawler.cli._next import say_next
from sharc_crawler.collection.folder import CAPTURES, Collection
from sharc_crawler.collection.overview import INDEX
from sharc_crawler.collection.page import PAGE
from sharc_crawler.collection.verifying import package_of, size_of, verify_collection
from sharc_crawler.collection.verifying_package import holds_packages, verify_package
from sharc_crawler.errors import DataError, UsageError
from sharc_crawler.live.monitoring.busy import busy
from sharc_crawler.plural import agreeing, counted
from sharc_crawler.report.claim import sentence
from sharc_crawler.report.package_check import not_of_it, package_digest
from sharc_crawler.report.servers_word import confirmed
from sharc_crawler.report.unsealed import GIVEN, unsealed, wording_of
from sharc_crawler.report.words import printable, short

_PIPE = "a named pipe or a device where a file belongs: nothing in this folder was read"
SHOWN = 20  #: findings that are listed


@click.command()
@click.argument("capture", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--former",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    callback=regular,
    help="A former capture that stores payloads of this one (dedup=site).",
)
@click.option(
    "--digest",
    "digests",
    multiple=True,
    help="The noted digest of a certificate, confirmation or WACZ file: sha256:… Once for each.",
)
@click.option("--signer", help="The required signer: sha256:… of a key, its PEM file, or a domain.")
@click.option("--authority", type=click.Path(path_type=Path), help="PEM file of roots to trust.")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
def command(
    capture: Path,
    former: tuple[Path, ...],
    digests: tuple[str, ...],
    signer: str | None,
    authority: Path | None,
    as_json: bool,
) -> None:
    r"""Verify the certificate of CAPTURE, a folder or a WACZ file, against its WARC files.

    For a collection or its package, all certificates are verified.

    Every statement is derived again: files, records, digests, instants, judgements, totals, claim. The exit code is 0
    if everything is as certified, 3 if anything was altered or there is no certificate, 2 if there is no capture.
    Among several captures, those without a certificate, such as a running one, are named (not verified).

    \b
    Example:
      sharc verify captures/demo
      sharc verify demo.wacz --digest sha256:4c83… --json
      sharc verify captures/demo --signer archive-public.pem --authority tsa-root.pem
    """
    digests = tuple(map(_digest, digests))
    collection = Collection(capture) if Collection.is_in(capture) else None
    without: list[str] = []
    if pipes := [Finding(_PIPE, file.relative_to(capture).as_posix()) for file in irregular(capture)]:
        result = Verification(source=str(capture), findings=pipes)
    else:
        trust = Trust(_signer(signer), authority)
        if collection or (capture.is_file() and holds_packages(capture)):
            if former:
                why = f"{capture} is a collection, whose captures know their former ones"
                raise UsageError(f"--former {former[0]}: {why}")
            result, without = _verified_collection(capture, collection, trust)
        else:
            result, without = _verified_capture(capture, former, trust, noted=_noted_package(capture, digests))
        if digests and not _noted_package(capture, digests):
            result.findings += _not_noted(result, digests)
    click.echo(_json(result) if as_json else _words(result, whole=not (without or result.moved)))
    for name in without:
        click.echo(f"  not verified: {short(name, 200)}", err=True)
    if result.findings:
        raise click.exceptions.Exit(DataError.exit_code)
    if not as_json and capture.is_dir() and not _packaged(capture, collection):
        say_next("sharc", "package", capture)


def _verified_capture(
    capture: Path, former: Sequence[Path], trust: Trust, *, noted: bool
) -> tuple[Verification, list[str]]:
    """The findings of a capture, or of several in a folder, and which have no certificate, with reasons.

    ``noted``: the file's own digest was noted, and with it everything inside.
    """
    require_capture(capture)
    with busy("verifying", total=total_size(capture)) as share:
        result = verify(capture, former, share.more, trust)
        result.findings += not_of_it(capture)
        result.worded = wording_of(capture)
        result.unsealed = [] if noted else unsealed(capture)
    return result, [f"{name}: {why}" for name, why in result.without.items()]


def _verified_collection(path: Path, collection: Collection | None, trust: Trust) -> tuple[Verification, list[str]]:
    """The same for a collection, or its package; raises DataError where no capture has a certificate."""
    with busy("verifying", total=size_of(collection) if collection else 6 * path.stat().st_size) as share:
        if collection:
            found = verify_collection(collection, share.more, trust)
        else:
            found = verify_package(path, share.more, trust)
    result, left = found
    result.without = {name: why for name, _, why in (line.partition(": ") for line in left)}
    if not (result.claims or result.findings):
        why = f"none of its {counted(len(left), 'capture')} has one ({left[0]})" if left else "it has no capture"
        raise DataError(f"{str(path)!r} holds no certificate: {why}")
    package = package_of(collection) if collection else None
    return result, [*left, f"{package.name}: sharc verify {package}"] if package else left


def _digest(text: str) -> str:
    """A digest as in certificates; raises UsageError for anything else."""
    if not re.fullmatch(r"(sha256:)?[0-9a-f]{64}", text):
        raise UsageError(f"--digest {text} is no digest; it is sha256: and 64 hexadecimal digits, as it was noted")
    return f"sha256:{text.removeprefix('sha256:')}"


def _not_noted(result: Verification, digests: Sequence[str]) -> Iterator[Finding]:
    """Findings where digests differ from the noted ones, or noted ones are missing."""
    there = dict.fromkeys(result.digests, "certificate")
    there |= {confirmation["digest"]: "confirmation" for confirmation in result.confirmations}
    noted = " or ".join(digests)
    yield from (
        Finding(f"a {what}'s digest is {one}, not {noted}") for one, what in there.items() if one not in digests
    )
    if len(digests) > 1:
        yield from (Finding(f"nothing here has the digest {digest}") for digest in digests if digest not in there)
    altered = "it is not as it was when the certificate was sealed, or was not there"
    yield from (Finding(altered, name) for name in result.unsealed if not name.startswith(GIVEN))


def _noted_package(capture: Path, digests: Sequence[str]) -> bool:
    """Is it a package whose own digest was noted? Then so is everything inside."""
    return bool(digests) and capture.is_file() and package_digest(capture) in digests


def _packaged(capture: Path, collection: Collection | None) -> bool:
    """Is there a WACZ file already? It would not be replaced."""
    return any(any(folder.glob("*.wacz")) for folder in ([capture] if collection else captures_in(capture)))


def _signer(text: str | None) -> str | None:
    if text is None:
        return None
    from sharc_crawler.certificate.signatures import is_private, read_signer  # only if one is named

    signer, path = read_signer(text, Path(text)), Path(text)
    if path.is_file() and is_private(path):
        public = shlex.join(["openssl", "pkey", "-in", text, "-pubout", "-out", "public.pem"])
        click.echo(
            f"sharc: {printable(text)} is the private key itself, with which anybody signs in its owner's name."
            f" To verify, its public half is enough: {printable(public)}",
            err=True,
        )
    return signer


def _package(result: Verification) -> Iterator[str]:
    path = Path(result.source)
    if path.is_file() and (digest := package_digest(path)):
        yield f"  digest {digest} of {short(path.name)}"


def _provisional(one: Mapping[str, Any]) -> str:
    left = f"  provisional: {counted(one['pages'], 'page')} of {short(one['folder'])}; from {one['due']} on:"
    if one["folder"].endswith(WACZ):
        return f"{left} sharc confirm the folder that it was made of, and package that anew"
    return f"{left} sharc confirm {short(one['folder'])}"


def _seals(result: Verification) -> Iterator[str]:
    """Who signed and who dated it; nothing is printed that was not verified or marked."""
    for name, signer in result.seals.signed.items():
        if (domain := result.seals.domains.get(name)) is None:
            yield f"  signed by the key {signer} ({name})"
        elif domain.doubt:
            yield f"  not checked: {name}, by the key {signer}; {short(domain.doubt, 300)} (--authority FILE)"
        else:
            yield f"  signed by {domain.domain} at {domain.instant}, says {domain.authority} ({name})"
    for name, stamp in result.seals.stamped.items():
        if stamp["checked"]:
            yield f"  existed at {stamp['instant']}, says {stamp['authority']} ({name})"
        else:
            yield f"  not checked: {name}, by {stamp['authority']}, which nobody here vouches for (--authority FILE)"


def _json(result: Verification) -> str:
    return json.dumps({"holds": not result.findings, **asdict(result)}, indent=1)


def _claims(result: Verification) -> Iterator[str]:
    """Each claim with its certificate's digest, and its site or capture if there are several."""
    for name, claim, digest in zip(_names(result), result.claims, result.digests, strict=True):
        yield f"{short(name)}: {sentence(claim)}" if name else sentence(claim)
        yield f"  digest {digest}"


def _names(result: Verification) -> list[str]:
    """Names that distinguish claims: sites (with a spider's rounds), or captures if a site has two."""
    if len(result.claims) < 2:
        return [""] * len(result.claims)
    if "" not in result.sites and len({*result.sites}) == len(result.sites):
        return result.sites
    own = result.captures or result.sites
    return [
        f"{capture}, {site}" if site and own.count(capture) > 1 else capture
        for capture, site in zip(own, result.sites, strict=True)
    ]


def _or_missing(folder: Path, name: str) -> str:
    file = folder / name
    return f"{name} (missing)" if file.parent.is_dir() and not file.exists() and GIVEN not in name else name


def _by_capture(result: Verification) -> Iterator[str]:
    """The findings, with a share of the list for each capture, and the captures that are sound."""
    captures = dict.fromkeys(result.captures)
    found: dict[str, list[Finding]] = {}
    for finding in result.findings:
        found.setdefault(_capture_of(finding.file or "", captures), []).append(finding)
    most = max(SHOWN // len(found), 1)
    for name, findings in islice(found.items(), SHOWN):
        if name:
            yield f"  {short(name)}: {counted(len(findings), 'finding')}"
        yield from (f"  {short(str(finding), 600)}" for finding in findings[:most])
        if len(findings) > most:
            yield f"  … and {len(findings) - most:,} more (--json shows all)"
    if len(found) > SHOWN:
        yield f"  … and {counted(len(found) - SHOWN, 'capture')} more with findings (--json shows all)"
    if sound := [name for name in captures if name not in found]:
        more = f" and {len(sound) - SHOWN:,} more" if len(sound) > SHOWN else ""
        yield f"  All of it holds of {counted(len(sound), 'capture')}: {short(', '.join(sound[:SHOWN]), 2_000)}{more}"


def _capture_of(file: str, captures: Iterable[str]) -> str:
    """The capture that a file belongs to; "": none."""
    parts = file.split("/")
    known = (name for name in captures if file == name or file.startswith(f"{name}/"))
    return next(known, "/".join(parts[:3]) if parts[0] == CAPTURES and len(parts) > 2 else "")


def _words(result: Verification, *, whole: bool) -> str:
    of = counted(result.pages, "page") + (f" and {counted(result.resources, 'resource')}" if result.resources else "")
    size = f"judgements of {of}, {counted(result.records, 'record')}"
    if result.findings:
        lines: list[str] = [
            f"Not as certified ({counted(len(result.findings), 'finding')} in {size}):",
            *_by_capture(result),
        ]
    else:
        lines = [
            f"{'Everything' if whole else 'All that has a certificate'} holds: {size}.",
            *_claims(result),
            *_package(result),
            *(f"  {text}" for confirmation in result.confirmations for text in confirmed(confirmation)),
            *map(_provisional, result.provisional),
            *_seals(result),
            *_unsealed(result),
        ]
    lines += [f"  not verified: {short(site)}, whose folder was moved elsewhere" for site in result.moved]
    return "\n".join([*lines, *_not_compared(result)])


def _unsealed(result: Verification) -> Iterator[str]:
    """Files that no certificate covers."""
    if result.unsealed:
        names = short(", ".join(_or_missing(Path(result.source), name) for name in result.unsealed[:SHOWN]))
        yield f"  not certified: {names}. Of a report, only what the certificate states was compared."
        if not {INDEX, PAGE}.isdisjoint(result.unsealed):
            yield f"  The index is out of date, or altered: sharc collection {result.source} makes it again."


def _not_compared(result: Verification) -> Iterator[str]:
    if result.worded:
        yield (
            f"  not compared: the wording of the report, by sharc-crawler {short(result.worded)}. "
            "What it repeats of the certificate was; `sharc report` writes it again."
        )
    if result.elsewhere:
        damaged = ", or in what is damaged" if result.findings else ""
        yield (
            f"{counted(result.elsewhere, 'payload', 'are')} stored in former captures{damaged}; --former DIR"
            f" checks {agreeing(result.elsewhere, 'these')}, too."
        )
