"""``sharc verify``: a capture's certificate, proved from its WARC files."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path

import click

from sharc_crawler.certificate.verify import Verification, total_size, verify
from sharc_crawler.certificate.witness import Finding
from sharc_crawler.cli._progress import progress
from sharc_crawler.errors import DataError
from sharc_crawler.report.claim import sentence
from sharc_crawler.report.packaged import not_of_it
from sharc_crawler.report.words import short

SHOWN = 20  #: findings that a person is shown


@click.command()
@click.argument("capture", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--former",
    type=click.Path(exists=True, path_type=Path),
    multiple=True,
    help="A former capture that payloads are stored in (dedup=site).",
)
@click.option("--digest", help="The certificate's digest as it was noted elsewhere: sha256:…")
@click.option("--json", "as_json", is_flag=True, help="Print what was found as JSON.")
def command(capture: Path, former: tuple[Path, ...], digest: str | None, as_json: bool) -> None:
    r"""Prove the certificate of CAPTURE, a folder or a WACZ file, from its WARC files alone.

    Every statement is made anew: files, records, digests, instants, judgements, totals, claim. Ends with 0 where all
    of it holds, with 3 where anything was altered, naming each place.

    \b
    Example:
      sharc verify captures/demo
      sharc verify demo.wacz --digest sha256:4c83… --json
    """
    done = 0
    with progress("verifying", total_size(capture)) as show:

        def told(size: int) -> None:
            nonlocal done
            done += size
            show(done)

        result = verify(capture, former, told)
        result.findings += [] if capture.is_dir() else not_of_it(capture)
    if digest is not None:
        others = [one for one in result.digests if one != digest]
        result.findings += [Finding(f"a certificate's digest is {one}, not {digest}") for one in others]
    click.echo(_json(result) if as_json else _words(result))
    if result.findings:
        raise click.exceptions.Exit(DataError.exit_code)


def _json(result: Verification) -> str:
    return json.dumps({"holds": not result.findings, **asdict(result)}, indent=1)


def _words(result: Verification) -> str:
    size = f"{result.pages:,} judgements, {result.records:,} records"
    if not result.findings:
        lines: list[str] = [
            f"Everything holds: {size}.",
            *map(sentence, result.claims),
            *(f"  digest {one}" for one in result.digests),
        ]
    else:
        lines = [f"Not as certified ({len(result.findings):,} findings in {size}):"]
        lines += [f"  {short(str(finding), 600)}" for finding in result.findings[:SHOWN]]
        if len(result.findings) > SHOWN:
            lines.append(f"  … and {len(result.findings) - SHOWN:,} more (--json shows all)")
    if result.elsewhere:
        lines.append(f"{result.elsewhere:,} payloads are stored in former captures; --former DIR checks these, too.")
    return "\n".join(lines)
