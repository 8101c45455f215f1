"""What certificates say of each copy, laid out beside pywb so that its pages show it as a banner (``verdict.js``).

The banner speaks of the copy on the screen: it looks its URL and time up here, and those of all that the page shows.
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
from sharc_crawler.certificate.confirming import confirmation_of, standing
from sharc_crawler.certificate.material import PageEntries
from sharc_crawler.certificate.names import CERTIFICATES
from sharc_crawler.errors import DataError
from sharc_crawler.evidence.kinds import Evidence
from sharc_crawler.evidence.measures import Content
from sharc_crawler.evidence.reasons import Reason
from sharc_crawler.model import Result, Verdict
from sharc_crawler.report.claim import sentence
from sharc_crawler.report.words import printable, short
from sharc_crawler.report.write import PAGES

SHELVES = 256  #: files that the verdicts are divided among; the browser fetches those of the URLs that it shows
SCRIPT, BANNER, VERDICTS = "sharc-verdict.js", "sharc-banner.html", "sharc-verdicts"
_BANNER = (
    "{% include 'banner.html' %}\n<script src=\"{{ static_prefix }}/" + SCRIPT + '" charset="utf-8" defer></script>\n'
)
Entry = Mapping[str, Any]

COPIES = ("visit", "revisit")


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
        for certificate, tested in _certificates(folders):
            captures.append(None)
            try:
                document = _with_confirmation(certificate)
                for line in _lines(document, certificate, tested, len(captures) - 1):
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


def _certificates(folders: Sequence[Path]) -> Iterator[tuple[Path, dict[str, list[str]]]]:
    """Each with what was answered 304 in its folder, and tested."""
    for folder in folders:
        if found := sorted(path for path in folder.iterdir() if CERTIFICATES.fullmatch(path.name)):
            tested = _tested(sorted(folder.glob("*.cdxj")))
            yield from ((certificate, tested) for certificate in found)


def _tested(indexes: Sequence[Path]) -> dict[str, list[str]]:
    """Of each URL the seconds of 304s after which it was asked for again: a certificate names the later answer only.

    Replay tools show the payload of the visit, to which these refer, at such a time, too.
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
    """What is said of a capture as a whole; an instant for each of its parts."""
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
    """URL, second, which download (`former`: a former capture's; `304`: an answer between the two), verdict, what it
    rests on, part of the site, number of the capture.
    """
    pages = certificate.with_name(document["pages"]["name"])
    entries: Iterable[Mapping[str, Any]] = PageEntries(lambda: pages.open("rb"))
    references = {part["name"]: (part["reference"] or {}).get("instant") for part in document["subsites"]}
    kept = _kept(certificate.with_name(PAGES), document["capture"]["site"])
    for entry in map(standing(document.get("confirmation")), entries):
        for part, stamp, which in _copies(entry, tested):
            verdict, _ = of_copy(entry, part, references.get(entry.get("subsite")))
            uri, grounds = entry[part]["uri"], _grounds(entry, verdict)
            said = "kept" if verdict == Verdict.CHANGED and entry["url"] in kept else verdict
            yield [uri, stamp, which, said, grounds, entry.get("subsite"), capture]


def _kept(report: Path, site: str) -> set[str]:
    """Changed pages of a site that kept their content, as far as the report can be read: no certificate says so."""
    found = set()
    with suppress(OSError, ValueError, KeyError, TypeError), report.open(encoding="utf-8") as lines:
        for line in lines:
            if f'"content": "{Content.KEPT}"' in line and f'"verdict": "{Verdict.CHANGED}"' in line:
                page = json.loads(line)
                if (page["site"], page["content"], page["verdict"]) == (site, Content.KEPT, Verdict.CHANGED):
                    found.add(page["url"])
    return found


def _copies(entry: Mapping[str, Any], tested: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str, str]]:
    """Whose payload is shown, when, and by which download."""
    made = {part: moment_in(entry[part]["date"]) for part in COPIES if entry.get(part)}
    for part, stamp in made.items():
        yield part, stamp, "former" if "server" in entry[part] else part
    if len(made) == len(COPIES) and "server" not in entry["visit"]:
        for stamp in tested.get(entry["visit"]["uri"], ()):
            if made["visit"] < stamp < made["revisit"]:
                yield "visit", stamp, "304"


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


def shows_reference(entry: Entry, part: str, reference: str | None) -> bool:
    """Is a copy of a coherent page its state at T (``reference``), as a certificate's ``entry`` has it?

    What lastmods show is the download before T, or the one after it, as the reason says; the other copy is
    the same state where it has the same payload.

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
    """The digest of what a viewer shows of a copy: of a 304 the visit's."""
    copy = entry["visit"] if entry[part]["result"] == Result.NOT_MODIFIED else entry[part]
    digest: str | None = copy["digest"]
    return digest


def of_copy(entry: Entry, part: str, reference: str | None) -> tuple[str | None, str | None]:
    """Verdict and evidence of one copy: of one that is not shown to be the state at T, ``unknown`` and ``none``."""
    if entry.get("verdict") == Verdict.COHERENT and not shows_reference(entry, part, reference):
        return Verdict.UNKNOWN.value, Evidence.NONE.value
    return entry.get("verdict"), entry.get("evidence")
