"""Files for pywb, so that replayed pages show a banner with their certificate's verdict (``verdict.js``).

The banner's script looks up the copy on the screen by URL and time, and all resources that it shows.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import IO, Any

from sharc_crawler.archive.cdxj import REVISIT, index_lines, moment_in
from sharc_crawler.archive.zipnum import merged
from sharc_crawler.certificate.confirming import confirmation_of, updated_by
from sharc_crawler.certificate.material import PageEntries
from sharc_crawler.certificate.names import CERTIFICATES
from sharc_crawler.errors import MALFORMED, DataError
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.measures import Content
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Result, Verdict
from sharc_crawler.report.claim import sentence
from sharc_crawler.report.words import printable, short
from sharc_crawler.report.write import PAGES

SHELVES = 256  #: number of files with verdicts; the browser fetches only those of the URLs that it shows
SCRIPT, BANNER, VERDICTS = "sharc-verdict.js", "sharc-banner.html", "sharc-verdicts"
_BANNER = (
    "{% include 'banner.html' %}\n<script src=\"{{ static_prefix }}/" + SCRIPT + '" charset="utf-8" defer></script>\n'
)
Entry = Mapping[str, Any]

COPIES = ("visit", "revisit")


def dress(folders: Sequence[Path], told: Callable[[str], None], place: Path) -> None:
    """Write the banner, and the verdicts of the captures in ``folders``, into the folder that pywb runs in.

    ``told`` is given a message for each certificate that cannot be read; its pages then have no verdict.
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
        for certificate, tested in _certificates(folders):
            captures.append(None)
            try:
                document = _with_confirmation(certificate)
                for line in _lines(document, certificate, tested, len(captures) - 1):
                    opened[shelf(line[0])].write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
                captures[-1] = _capture(document)  # last: nothing counts of one that cannot be read to its end
            except (DataError, OSError, *MALFORMED) as error:
                told(f"{certificate} cannot be read ({error}): its pages are shown without it; see sharc verify")
    finally:
        for file in opened.values():
            file.close()
    (shelves / "captures.json").write_text(json.dumps(captures))


def _with_confirmation(certificate: Path) -> dict[str, Any]:
    """A certificate with its confirmation."""
    document: dict[str, Any] = json.loads(certificate.read_text(encoding="utf-8"))
    confirmation = confirmation_of(certificate.parent)
    if confirmation and confirmation["certificate"] == document["digest"]:
        document["confirmation"] = confirmation
    return document


def shelf(url: str) -> int:
    """The number of the file with a URL's verdicts; the script computes it in the same way.

    >>> shelf("http://a.org/"), shelf("http://a.org/é")
    (94, 202)
    """
    return sum(url.encode("utf-8", "replace")) % SHELVES


def _certificates(folders: Sequence[Path]) -> Iterator[tuple[Path, dict[str, list[str]]]]:
    """Each certificate with the 304s of its folder that were tested (see :func:`_tested`)."""
    for folder in folders:
        if found := sorted(path for path in folder.iterdir() if CERTIFICATES.fullmatch(path.name)):
            tested = _tested(sorted(folder.glob("*.cdxj")))
            yield from ((certificate, tested) for certificate in found)


def _tested(indexes: Sequence[Path]) -> dict[str, list[str]]:
    """By URL, the times of 304s after which it was downloaded in full: a certificate lists only the later answer.

    For such a time, replay tools show the payload of the visit, which the 304 refers to.
    """
    found: dict[str, list[str]] = {}
    for line, following in pairwise(merged(indexes)):
        key, stamp, fields = line.split(" ", 2)
        if REVISIT in fields and following.startswith(f"{key} "):
            (entry,) = index_lines([line])
            if entry.mime == REVISIT and entry.status is None:
                found.setdefault(entry.url, []).append(stamp)
    return found


def _capture(document: Mapping[str, Any]) -> dict[str, Any]:
    """What the banner says of a capture as a whole, with the reference instant of each part."""
    capture = {**document["capture"], **document.get("confirmation", {}).get("capture", {})}
    instants = {part["name"]: (part["reference"] or {}).get("instant") for part in document["subsites"]}
    return {
        "site": printable(document["capture"]["site"]),
        "claim": printable(sentence(capture["claim"])),
        "digest": document["digest"],
        "instants": instants,
    }


def _lines(
    document: Mapping[str, Any], certificate: Path, tested: Mapping[str, Sequence[str]], capture: int
) -> Iterator[list[Any]]:
    """A line for each copy: URL, time, which download, verdict, its grounds, part of the site, number of the capture.

    The download is ``visit``, ``revisit``, ``former`` (a former capture's) or ``304`` (between the two).
    """
    pages = certificate.with_name(document["pages"]["name"])
    entries: Iterable[Mapping[str, Any]] = PageEntries(lambda: pages.open("rb"))
    references = {part["name"]: (part["reference"] or {}).get("instant") for part in document["subsites"]}
    kept = _kept(certificate.with_name(PAGES), document["capture"]["site"])
    for entry in map(updated_by(document.get("confirmation")), entries):
        for part, stamp, which in _copies(entry, tested):
            verdict, _ = of_copy(entry, part, references.get(entry.get("subsite")))
            uri, grounds = entry[part]["uri"], _grounds(entry, verdict)
            said = "kept" if verdict == Verdict.CHANGED and entry["url"] in kept else verdict
            yield [uri, stamp, which, said, grounds, entry.get("subsite"), capture]


def _kept(report: Path, site: str) -> set[str]:
    """Changed pages of a site that kept their content: told by the report, as certificates compare bytes."""
    found = set()
    with suppress(OSError, *MALFORMED), report.open(encoding="utf-8") as lines:
        for line in lines:
            if f'"content": "{Content.KEPT}"' in line and f'"verdict": "{Verdict.CHANGED}"' in line:
                page = json.loads(line)
                if (page["site"], page["content"], page["verdict"]) == (site, Content.KEPT, Verdict.CHANGED):
                    found.add(page["url"])
    return found


def _copies(entry: Mapping[str, Any], tested: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, str]]:
    """For each copy: the download whose payload is shown, the time, and the download that made it."""
    made = {part: moment_in(entry[part]["date"]) for part in COPIES if entry.get(part)}
    for part, stamp in made.items():
        yield part, stamp, "former" if "server" in entry[part] else part
    if len(made) == len(COPIES) and "server" not in entry["visit"]:
        for stamp in tested.get(entry["visit"]["uri"], ()):
            if made["visit"] < stamp < made["revisit"]:
                yield "visit", stamp, "304"


#: viewers find answers by URL only
_CHOSEN = "; its scripts chose among answers of one address by headers, of which a replay shows one"


def _grounds(entry: Mapping[str, Any], verdict: str | None) -> str:
    """Why a copy has its ``verdict``."""
    if verdict != entry.get("verdict"):
        return "but its other copy is"
    if verdict == "coherent":
        chosen = any("#get-" in url for url in entry.get("data", ()))
        return Evidence(entry["evidence"]).ground + _CHOSEN * chosen
    words = Reason(entry["reason"]).words if entry["reason"] else ""
    return short(words.replace(": {}", "").replace(" (status {})", "").replace("{}", "…"))


def shows_reference(entry: Entry, part: str, reference: str | None) -> bool:
    """Does a copy of a coherent page show its state at T (``reference``), by a certificate's ``entry``?

    If lastmods are the evidence, the reason tells whether the download before T or that after it does. The other copy
    does if it has the same payload.

    >>> visit = {"date": "10:00", "result": "ok", "digest": "A"}
    >>> page = {"evidence": "attested", "reason": "lastmod-before-T", "visit": visit}
    >>> page["revisit"] = {**visit, "date": "10:09", "digest": "B"}
    >>> [shows_reference(page, part, "10:05") for part in COPIES]
    [False, True]
    >>> [shows_reference({**page, "reason": "lastmod-before-visit"}, part, "10:05") for part in COPIES]
    [True, False]
    >>> shows_reference({**page, "evidence": "bytes"}, "visit", "10:05")
    True
    """
    if not Evidence(entry["evidence"]).dated:
        return True
    later = entry["reason"] == Reason.LASTMOD_BEFORE_T
    made = {one: stated for one in COPIES if (stated := entry.get(one))}
    after = {one: reference is not None and stated["date"] > reference for one, stated in made.items()}
    return {payload(entry, one) for one in made if after[one] is later} == {payload(entry, part)}


def payload(entry: Entry, part: str) -> str | None:
    """The digest of the payload that a viewer shows for a copy: for a 304 that of the visit."""
    copy = entry["visit"] if entry[part]["result"] == Result.NOT_MODIFIED else entry[part]
    digest: str | None = copy["digest"]
    return digest


def of_copy(entry: Entry, part: str, reference: str | None) -> tuple[str | None, str | None]:
    """Verdict and evidence of one copy: ``unknown`` and ``none`` if it need not be the state at T."""
    if entry.get("verdict") == Verdict.COHERENT and not shows_reference(entry, part, reference):
        return Verdict.UNKNOWN.value, Evidence.NONE.value
    return entry.get("verdict"), entry.get("evidence")
