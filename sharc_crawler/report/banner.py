"""What certificates say of each copy, laid out beside pywb so that its pages show it as a banner (``verdict.js``).

The banner speaks of the copy on the screen: it looks its URL and time up here, and those of all that the page shows.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import IO, TYPE_CHECKING, Any

from sharc_crawler.archive.cdxj import moment_in
from sharc_crawler.certificate.confirming import confirmation_of, standing
from sharc_crawler.certificate.material import PageEntries
from sharc_crawler.certificate.names import CERTIFICATES
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.report.claim import sentence
from sharc_crawler.report.copies import COPIES, of_copy
from sharc_crawler.report.words import printable, short

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

SHELVES = 256  #: files that the verdicts are divided among; the browser fetches those of the URLs that it shows
SCRIPT, BANNER, VERDICTS = "sharc-verdict.js", "sharc-banner.html", "sharc-verdicts"
_BANNER = (
    "{% include 'banner.html' %}\n<script src=\"{{ static_prefix }}/" + SCRIPT + '" charset="utf-8" defer></script>\n'
)


def dress(folders: Sequence[Path], told: Callable[[str], None], place: Path) -> None:
    """Lay the banner, and what it says of the captures in ``folders``, into the folder that pywb runs in.

    ``told`` is given what is wrong with a certificate that cannot be read: it speaks of nothing then.
    """
    (place / "templates").mkdir()
    (place / "templates" / BANNER).write_text(_BANNER)
    (place / "config.yaml").write_text(f"banner_html: {BANNER}\n")
    shelves = place / "static" / VERDICTS
    shelves.mkdir(parents=True)
    script = files("sharc_crawler.report").joinpath("templates", "verdict.js").read_text("utf-8")
    (place / "static" / SCRIPT).write_text(script)
    captures: list[dict[str, Any] | None] = []
    opened: dict[int, IO[bytes]] = {}
    try:
        for number in range(SHELVES):
            opened[number] = (shelves / f"{number}.jsonl").open("wb")
        for certificate in _certificates(folders):
            captures.append(None)
            try:
                document = _with_confirmation(certificate)
                for line in _lines(document, certificate, len(captures) - 1):
                    opened[shelf(line[0])].write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
                captures[-1] = _capture(document)  # only now: of one that breaks off nothing is said
            except (DataError, OSError, ValueError, KeyError, TypeError, RecursionError) as error:
                told(f"{certificate} cannot be read ({error}): its pages are shown without it; see sharc verify")
    finally:
        for file in opened.values():
            file.close()
    (shelves / "captures.json").write_text(json.dumps(captures))


def _with_confirmation(certificate: Path) -> dict[str, Any]:
    """A certificate, and what confirms it."""
    document: dict[str, Any] = json.loads(certificate.read_text(encoding="utf-8"))
    confirmation = confirmation_of(certificate.parent)
    if confirmation and confirmation["certificate"] == document["digest"]:
        document["confirmation"] = confirmation
    return document


def shelf(url: str) -> int:
    """Which file has the verdicts of a URL; the script counts the same way.

    >>> shelf("http://a.org/"), shelf("http://a.org/é")
    (94, 202)
    """
    return sum(url.encode("utf-8", "replace")) % SHELVES


def _certificates(folders: Sequence[Path]) -> Iterator[Path]:
    for folder in folders:
        yield from sorted(path for path in folder.iterdir() if CERTIFICATES.fullmatch(path.name))


def _capture(document: Mapping[str, Any]) -> dict[str, Any]:
    """What is said of a capture as a whole; an instant for each of its parts."""
    capture = {**document["capture"], **document.get("confirmation", {}).get("capture", {})}
    instants = {part["name"]: (part["reference"] or {}).get("instant") for part in document["subsites"]}
    return {
        "site": printable(document["capture"]["site"]),
        "claim": printable(sentence(capture["claim"])),
        "digest": document["digest"],
        "instants": instants,
    }


def _lines(document: Mapping[str, Any], certificate: Path, capture: int) -> Iterator[list[Any]]:
    """URL, second, which download (`former`: a former capture's), verdict, what it rests on, part of the site, number
    of the capture.
    """
    pages = certificate.with_name(document["pages"]["name"])
    entries: Iterable[Mapping[str, Any]] = PageEntries(lambda: pages.open("rb"))
    references = {part["name"]: (part["reference"] or {}).get("instant") for part in document["subsites"]}
    for entry in map(standing(document.get("confirmation")), entries):
        for part in COPIES:
            if made := entry.get(part):
                stamp = moment_in(made["date"])
                which = "former" if "server" in made else part
                verdict, _ = of_copy(entry, part, references.get(entry.get("subsite")))
                yield [made["uri"], stamp, which, verdict, _grounds(entry, verdict), entry.get("subsite"), capture]


#: a viewer finds answers by their addresses
_CHOSEN = "; its scripts chose among answers of one address by headers, of which a replay shows one"


def _grounds(entry: Mapping[str, Any], verdict: str | None) -> str:
    """``verdict``: of the copy."""
    if verdict != entry.get("verdict"):
        return "but its other copy is"
    if verdict == "coherent":
        chosen = any("#get-" in url for url in entry.get("data", ()))
        return Evidence(entry["evidence"]).ground + _CHOSEN * chosen
    words = Reason(entry["reason"]).words if entry["reason"] else ""
    return short(words.replace(": {}", "").replace(" (status {})", "").replace("{}", "…"))
