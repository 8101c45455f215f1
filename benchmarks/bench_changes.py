"""Change detection on page pairs: is noise ignored, and is no edit missed?

    python benchmarks/bench_changes.py /usr/share/doc/python3.11/html /usr/share/doc/apache2-doc ...

From each folder of real HTML pages some are taken. A page gets what sites put around their content (script nonces, CSRF
fields, comments, a counter, a clock, an ad slot, a rotating quotation, session ids and cache busters in addresses), new
at every fetch. Masks are learned per site from pairs of fetches two seconds apart of *other* pages than those judged.
Then a page is fetched the next day: once as it is (noise), and once after one edit (a word, a number, a letter's case,
a link, an image, a sentence taken out). Seeded; prints a table.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from lxml import etree

from sharc_crawler.changes.fingerprint import fingerprint
from sharc_crawler.changes.learning import Pair, learn

QUOTES = ("To be or not to be", "All is well that ends well, it is said", "Brevity is the soul of wit")
START = datetime(2026, 11, 20, 10, 31, 7, tzinfo=UTC)
EDITS = ("word", "number", "case", "link", "image", "sentence")
TYPE = "text/html; charset=utf-8"


def served(html: str, rng: random.Random, when: datetime, visits: int) -> str:
    """The page as a server hands it out at that instant."""
    token = f"{rng.getrandbits(64):016x}"
    top = (
        f"<script nonce='{token}'>var t = {when.timestamp()};</script><!-- cache {token} -->"
        f"<form action='/search'><input type=hidden name=csrf value={token}><input name=q></form>"
        f"<div class='ad-slot' id='ad-{rng.randrange(9)}'><a href='/ads/{token}'>Buy {rng.choice(QUOTES)}</a></div>"
    )
    foot = (
        f"<div id=foot><p>This page was seen {visits:,} times; 3 copies are kept.</p>"
        f"<p>It is {when:%A, %d %B %Y}, {when:%H:%M:%S}, in our reading room.</p>"
        f"<p>Generated in 0.{rng.randrange(100, 999)} seconds.</p></div>"
        f"<blockquote>{rng.choice(QUOTES)}</blockquote><a href='/out/{token}/help?sid={token}'>help</a>"
        f"<img src='/pixel.gif?{token}' alt=''>"
    )
    html = re.sub(r"(<body[^>]*>)", lambda found: found[1] + top, html, count=1, flags=re.IGNORECASE)
    return re.sub(r"</body>", lambda _: foot + "</body>", html, count=1, flags=re.IGNORECASE)


def edited(html: str, kind: str, rng: random.Random) -> str | None:
    """The page after one edit of its own content; ``None`` where it has nothing to edit so."""
    root = etree.HTML(html)
    if kind in {"link", "image"}:
        found = root.xpath("//a[@href][not(starts-with(@href, '#'))]" if kind == "link" else "//img[@src]")
        if not found:
            return None
        name = "href" if kind == "link" else "src"
        element = rng.choice(found)
        element.set(name, element.get(name).partition("#")[0] + "-other")
        return str(etree.tostring(root, encoding="unicode", method="html"))
    pattern = {"number": r"\d+", "sentence": r"[A-Z][^.<>]{20,}\.", "word": r"\b[a-z]{4,}\b", "case": r"\b[a-z]{4,}\b"}[
        kind
    ]
    texts = [
        e for e in root.xpath("//body//*[not(self::script or self::style)]") if e.text and re.search(pattern, e.text)
    ]
    if not texts:
        return None
    element = rng.choice(texts)
    hit = rng.choice(list(re.finditer(pattern, element.text)))
    change = {
        "number": lambda word: str(int(word) + 1),
        "sentence": lambda _: "",
        "word": lambda word: word[::-1] + "x",
        "case": str.capitalize,
    }[kind]
    element.text = element.text[: hit.start()] + change(hit[0]) + element.text[hit.end() :]
    return str(etree.tostring(root, encoding="unicode", method="html"))


def pages_of(folder: Path, number: int, rng: random.Random) -> list[str]:
    """Pages that have a body with text, normalised as any parser would."""
    found = sorted(path for path in folder.rglob("*.html") if path.is_file() and path.stat().st_size < 300_000)
    rng.shuffle(found)
    pages = []
    for path in found[: 3 * number]:
        root = etree.HTML(path.read_bytes().replace(b"\x00", b""), etree.HTMLParser(encoding="utf-8"))
        if root is not None and len(" ".join(root.itertext()).split()) > 120:
            pages.append(str(etree.tostring(root, encoding="unicode", method="html")))
    return pages[:number]


def judge(folder: Path, number: int, seed: int) -> Counter[str]:
    """Counts of a site: noise pairs, ignored without and with masks; edits, and those missed."""
    rng = random.Random(f"{seed} {folder}")
    pages = pages_of(folder, number, rng)
    teachers, pages = pages[: max(2, len(pages) // 5)], pages[max(2, len(pages) // 5) :]
    seen = [rng.randrange(100, 4_000) for _ in teachers]
    close = [
        (
            served(page, rng, START, visits),
            served(page, rng, START + timedelta(seconds=2), visits + rng.randrange(1, 9)),
        )
        for page, visits in zip(teachers, seen, strict=True)
    ]
    masks = learn((Pair(a.encode(), b.encode(), TYPE, str(n)) for n, (a, b) in enumerate(close)), support=2).masks
    counts: Counter[str] = Counter(pages=len(pages), masks=len(masks))
    for page in pages:
        first = served(page, rng, START, 4_100)
        later = START + timedelta(days=1, minutes=rng.randrange(600))
        second = served(page, rng, later, 4_100 + rng.randrange(1, 9_000))
        counts["plain"] += _print(first) == _print(second)
        counts["masked"] += _print(first, masks) == _print(second, masks)
        for kind in EDITS:
            changed = edited(page, kind, rng)
            if changed is not None:
                counts["edits"] += 1
                third = served(changed, rng, later, 9_999)
                counts[f"missed {kind}"] += _print(first, masks) == _print(third, masks)
    return counts


def _print(html: str, masks: tuple = ()) -> str:  # type: ignore[type-arg]
    return fingerprint(html.encode(), TYPE, masks)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path)
    parser.add_argument("--pages", type=int, default=100, help="pages of each folder")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    print("| site | pages | noise ignored, no masks | with learned masks | edits | missed |")
    print("|---|---|---|---|---|---|")
    for folder in args.folders:
        c = judge(folder, args.pages, args.seed)
        missed = {kind: c[f"missed {kind}"] for kind in EDITS if c[f"missed {kind}"]}
        n = max(c["pages"], 1)
        cells = [folder, c["pages"], f"{c['plain'] / n:.0%}", f"{c['masked'] / n:.0%}", c["edits"], missed or 0]
        print("|", " | ".join(map(str, cells)), "|")


if __name__ == "__main__":
    main()
