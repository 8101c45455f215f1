"""The table: a row per option, with its kind, its default and what it does, section after section.

A name with an underscore at its end (``for_``) is that without it. A new option is a row here, and ``config.name``
where it is used: arguments, settings, checks, ``scrapy crawl --help`` and the docs follow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from sharc_crawler.addresses.scope import ScopeKind
from sharc_crawler.archive.options import DEDUP
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.options.kinds import (
    Bytes,
    Choice,
    Contact,
    Duration,
    Flag,
    FlagOr,
    Folder,
    Pairs,
    ReadBy,
    Real,
    RealOrAuto,
    Sitemaps,
    Text,
    TextList,
    Urls,
    Whole,
    Words,
)
from sharc_crawler.options.option import (
    COOKIES,
    DIVISION,
    KEY,
    MASKS,
    NETRC,
    OBJECTS,
    RATES,
    STATE,
    STRATEGY,
    UPDATES,
    WRITER,
    argument,
    both,
    plugin,
    setting,
)
from sharc_crawler.report.log import FORMATS
from sharc_crawler.state.spec import AUDIT, BOUNDS, HINTS, HOPS, LAG, PAGE_RESOURCES

if TYPE_CHECKING:
    from sharc_crawler.seeds.base import Threshold

#: sections of the page of arguments
WHAT, SHOWN, RUNS, SEEDS, NEWS, KEPT = "what", "shown", "runs", "seeds", "news", "kept"
ASKED_FOR = ("gzip", "deflate", "br", "zstd")  #: content codings that are undone
_USUAL = Politeness()
_INSTANT, _CONTINUOUS, _RANKER = "mode=instant", "mode=continuous", "ranker="
_SHOWN = "browser=always|auto"
_TIMED = f"{_INSTANT}|continuous"  #: with either


@dataclass(frozen=True, kw_only=True)
class Options:
    """All options of one crawl, checked."""

    # What to capture, and how
    url: tuple[str, ...] = argument(
        Urls(),
        (),
        "site to capture, or several, separated by commas or blanks. A bare host name means `https://`; with a port,"
        " write `http://` or `https://`",
        section=WHAT,
    )
    seeds: tuple[str, ...] = argument(
        ReadBy("file", "seeds_of_file"), (), "file with one URL a line (`#`, first or after a blank: comment)"
    )
    strategy: str = both(
        STRATEGY,
        "sharc-online",  # an order alone doubles nobody's traffic
        "order of visits and revisits ([which there are](../README.md#strategies), [your own](strategies.md))",
        profile="sharc-selective",
        never=_INSTANT,
    )
    subsites: str = argument(
        DIVISION,
        "",
        "capture part by part, the largest coherent part first, each around its own reference instant"
        " ([subsites.md](subsites.md)); `links` needs `pip install 'sharc-crawler[links]'`",
        shown="the site as a whole",
        never=_INSTANT,
    )
    sitemap: tuple[str, ...] | None = argument(
        Sitemaps(), None, "`auto`: from robots.txt, or `/sitemap.xml`; `off`: none; or its URL", shown="`auto`"
    )
    hints: float = argument(
        Real(0, 1),
        HINTS,
        "maximum share of visits and revisits that are second looks: before the reference instant T, sitemaps, feeds"
        " and lists of changes are read again, and pages that changed since their visit, according to these, are"
        " visited again; 0: none ([rates.md](rates.md#second-looks-before-t))",
        never=_INSTANT,
    )
    scope: str = argument(
        Choice(get_args(ScopeKind)),
        "host",
        "what belongs to a site: `host` (with or without `www.`), `domain`, `prefix` (the seed's folder)",
    )
    include: tuple[str, ...] = argument(ReadBy("regular expression", "patterns"), (), "only pages whose URL matches")
    exclude: tuple[str, ...] = argument(
        ReadBy("regular expression", "patterns"),
        (),
        "no pages whose URL matches ([ready-made](arguments.md#wikis-and-blogs) for MediaWiki, WordPress and others)",
    )
    size: int = both(
        Whole(high=1e9),
        0,
        "estimated number of pages of a site, if it has no sitemap",
        shown="as many as are known",
        never=_INSTANT,
    )
    limit: int = argument(
        Whole(),
        0,
        "maximum number of pages visited, including those that are gone, but not revisits or embedded files"
        " (`max_requests` counts all requests); 0: no limit, but no link is followed once 2,000,000 pages are known",
        shown="none",
        never=_INSTANT,
    )
    hops: int | None = argument(
        Whole(),
        None,
        "maximum number of links in a row from a seed or sitemap ([which count](settings.md#traps)); 0: no limit",
        shown=f"{HOPS}, none for `dfs`",
    )
    traps: bool = argument(
        Flag(), True, "`0`: also follow links that look like a trap ([what that is](settings.md#traps))"
    )
    max_requests: int = both(
        Whole(), 0, "[budget](arguments.md#budgets) of each site: requests, revisits included", shown="none"
    )
    max_bytes: int = both(Bytes(), 0, "budget of each site: bytes of payload", shown="none")
    max_time: float = both(
        Duration(bare=False),
        0.0,
        "budget of each site: running time (then `mode=instant` ends at its next poll, or at once with `for=`)",
        shown="none",
    )
    delay: float = both(
        Duration(),
        0.0,
        "time between two requests to a host (robots.txt may ask for more); `www.x` and `x` are one host",
        setting="DOWNLOAD_DELAY",
        profile=1.0,
    )
    output: Path | None = both(
        Folder(),
        None,
        "folder for WARCs, state and report of one crawl. `captures/%(name)s/%(time)s` is filled in for each spider and"
        " run, as in `FEEDS`. Without it, a project's own spider keeps nothing",
        shown="none; `site`: `captures/HOST-TIME`",
    )
    collection: Path | None = argument(
        Folder(),
        None,
        "folder of [a collection](collection.md), created if missing. It sets output, history, masks, `dedup=site` and"
        " the arguments of its site; `url` names one of its sites",
        never=_INSTANT,
    )
    history: str | None = both(
        Text("file"),
        None,
        "file with the archive's history ([schema](observations.md)). Rates, known pages and size are read from it;"
        " what the capture learns is added",
    )
    rates: str = both(
        RATES,
        "captures,sitemap",
        "[sources of change rates](rates.md#sources), in the order in which they are tried: `captures`, `sitemap`,"
        " `predictor:model=FILE`, …",
    )
    dry_run: bool = argument(Flag(), False, "`1`: check everything, show the plan, send nothing")

    resume: str = both(
        FlagOr("rebuild"),
        "",
        "`rebuild`: if the state in the folder is [lost or damaged](report.md#lost-or-damaged-state), `site` rebuilds"
        " it from the WARC files and the log. `1`: a project's own spider resumes when you run the same command again"
        " (needs `SHARC_OUTPUT`; [what is kept](drop-in.md#resume-a-crawl))",
        shown="`site` resumes from its state; a project's own spider does not",
    )

    # Logged in
    cookies: str | None = argument(
        COOKIES,
        None,
        "cookies to send, in Netscape's format (`cookies.txt`), from a session that you are entitled to capture"
        " ([how](capturing.md#logged-in))",
        never=_INSTANT,
    )
    state: str | None = argument(
        STATE, None, "a storage state of Playwright's: cookies, and what scripts had stored", never=_INSTANT
    )
    netrc: str | None = argument(
        NETRC,
        None,
        "users and passwords by host, for HTTP Basic authentication, as curl and wget read them",
        never=_INSTANT,
    )
    session: str = argument(
        Text("words"),
        "logged in",
        "whose session it is, in a word such as `reader`, for report and certificate (with one of these files)",
    )
    keep_secrets: bool = argument(
        Flag(), False, "`1`: do not mask the session's secrets in WARC requests (with one of these files)"
    )

    # Pages made by script
    browser: str = argument(
        Choice(("never", "auto", "always")),
        "never",
        "`always`: show each page in Chromium, and make and archive all requests for it. `auto`: only for classes of"
        " URLs where this shows more ([browser.md](browser.md))",
        section=SHOWN,
        never=_INSTANT,
    )
    behaviors: tuple[str, ...] = argument(
        Words(("scroll", "more")),
        ("scroll",),
        "what to do with each page once it is quiet: `scroll` it and its parts to their ends; `more`: click on what"
        " says so ([bounds](browser.md#bounds))",
        needs=_SHOWN,
    )
    post: bool = argument(
        Flag(),
        False,
        "`1`: also send scripts' POST requests, at both downloads of a page. Sites with GraphQL need this; it may have"
        " effects on the site",
        needs=_SHOWN,
    )
    screenshots: bool = argument(
        Flag(),
        False,
        "`1`: archive a picture of the first screen of each page shown in a browser, as `urn:view:URL`",
        needs=_SHOWN,
    )
    text: bool = argument(
        Flag(), False, "`1`: archive the text of each page shown in a browser, as `urn:text:URL`", needs=_SHOWN
    )

    # While it runs
    control: bool = both(
        Flag(),
        True,
        "let `sharc watch` show the crawl, and `sharc control` control it (in a project: everything but `delay`, which"
        " its download slots decide)",
        section=RUNS,
    )

    # Which of many seeds
    ranker: str | None = argument(
        Text("name"),
        None,
        "choose among the `seeds` by archives' history, crawl the chosen in that order, and report how many had"
        " changed: `hacs`, `frequency`, … ([hacs.md](hacs.md))",
        section=SEEDS,
        shown="all seeds",
        never=_INSTANT,
    )
    theta: Threshold | None = argument(
        RealOrAuto(0, 1),
        None,
        "minimum probability of change for a seed to be chosen; `auto`: the one that probably gives the best F1",
        needs=_RANKER,
    )
    budget: int | None = argument(Whole(), None, "maximum number of seeds chosen", needs=_RANKER)
    timemaps: tuple[str, ...] = argument(
        TextList("files and folders"),
        (),
        "archives' history: CDX, TimeMaps, WARC, or folders of them as `sharc seeds fetch` makes; beside `history`",
        needs=_RANKER,
    )
    updates: str = argument(UPDATES, "digest", "what counts as a change", needs=_RANKER)
    explore: float = argument(
        Real(0, 1), 0.0, "share of the left-out seeds to crawl anyway, to estimate recall", needs=_RANKER
    )

    # Following the news
    mode: str = argument(
        Choice(("capture", "continuous", "instant")),
        "capture",
        "`capture`: capture whole sites once. `continuous`: keep looking at their pages, so that they fit together at"
        " any instant ([collection.md](collection.md#continuous-capture)). `instant`: poll the seeds as hubs for news"
        " ([temporal.md](temporal.md))",
        section=NEWS,
    )
    every: float = argument(Duration(0.001), 300.0, "mean time between two polls of a hub", needs=_INSTANT)
    for_: float = argument(Duration(0.001), math.inf, "how long it runs", needs=_TIMED, shown="until stopped")
    requests: float = argument(
        Whole(1),
        math.inf,
        "maximum number of requests an hour, over all hosts (`continuous`: for each site, after its first visits)",
        needs=_TIMED,
        shown="none; `continuous` requires it",
    )
    upkeep: str = argument(
        Text("name"),
        "coherent",
        "goal of the looks: `coherent` (show most pages as they were, at any instant), `sharp` (least blur), `even`, or"
        " [your own](strategies.md#upkeep)",
        needs=_CONTINUOUS,
    )

    # What is kept, and what counts
    dedup: str = both(
        Choice(DEDUP),
        "capture",
        "store equal payloads once per `capture`, once per `site` (with `history`; replay then also needs the former"
        " captures), once per `collection`, or every time (`off`)",
        section=KEPT,
    )
    wacz: bool = both(
        Flag(),
        False,
        "when complete, also package the captures as one [WACZ](https://specs.webrecorder.net/wacz/1.1.1/) file",
        never=_INSTANT,
    )
    sign: str | None = both(
        KEY,
        None,
        "private key to sign certificate and package with, as in [wacz-auth](https://specs.webrecorder.net/wacz-auth/0.1.0/)"
        " (PEM, curve secp384r1; or a domain's key with its certificates, which needs `timestamp`) ([what it"
        " proves](certificate.md#who-and-when))",
        never=_INSTANT,
    )
    timestamp: str | None = both(
        ReadBy("URL", "authority"),
        None,
        "time stamp authority (RFC 3161) that stamps the certificate at the end; needs `pip install"
        " 'sharc-crawler[sign]'` ([what it proves](certificate.md#who-and-when))",
        never=_INSTANT,
    )
    objects: str | None = both(
        OBJECTS,
        None,
        "object store for the capture ([object stores](capturing.md#in-an-object-store)): it receives each exchange"
        " before it counts, and the whole folder at the end; `output` is the working copy. Needs `pip install"
        " 'sharc-crawler[s3]'`",
        never=_INSTANT,
    )
    masks: str | None = both(
        MASKS,
        None,
        "file of masks from `sharc masks`: parts that do not count as a change of content ([changes.md](changes.md))",
    )
    audit: float = argument(
        Real(0, 1),
        AUDIT,
        "share of the pages claimed on the server's word (lastmods, 304s) to download again and compare, at least five"
        " of each kind of URLs (kinds with few pages are combined); 0: none",
        never=_INSTANT,
    )

    lag: float = argument(
        Duration(),
        LAG,
        "time after a change until the site's sitemaps show it; more, if former captures show that. Until a sitemap is"
        " read so late, claims of `sharc-attested` are [provisional](certificate.md#provisional-and-confirmed)",
        never=_INSTANT,
    )

    skip: str = argument(
        Choice(("off", "attested")),
        "off",
        "`attested` (with `collection` and `strategy=sharc-attested`): do not request pages that are unchanged since a"
        " former capture, according to sitemaps that have earned trust ([how](collection.md#skip-unchanged-pages))",
        never=_INSTANT,
    )

    # Settings of a project
    store: str = setting(
        plugin("store"),
        "sqlite",
        "store for the state of a crawl in its output folder: a plug-in's name, or a dotted path"
        " ([your own](stores.md)); `memory`: the crawl cannot be resumed",
    )
    writer: str = setting(WRITER, "warc", "writer for exchanges: a plug-in's name, or a dotted path")
    detector: str = setting(
        plugin("detector"), "content", "detector of changes of content: a plug-in's name, or a dotted path"
    )
    warc: bool = setting(Flag(), True, "write WARC files into the output folder (in a separate process)")
    warc_level: int = setting(Whole(0, 9), 6, "gzip level: 0 (stored), 1 (fast) to 9 (small)")
    warc_size: int = setting(Bytes(10_000), 1_000_000_000, "size after which a new WARC file is begun")
    warcinfo: tuple[tuple[str, str], ...] = setting(
        Pairs('`{"publisher": "…"}`', "fields_told"),
        (),
        "further fields of each WARC file's first record: `publisher`, `audience`, `description`, `isPartOf`,"
        " `hostname`, `ip`, …",
    )
    codings: tuple[str, ...] = setting(
        Words(ASKED_FOR),
        ("gzip", "deflate", "br"),
        "content codings to accept (`site`). Answers in `zstd` are archived unchanged, but most replay tools cannot"
        " show them yet",
    )
    min_free: int = setting(
        Bytes(),
        100_000_000,
        "free space on the disk of the output folder below which the crawl pauses; 0: it pauses only when the disk is"
        " full (until 1 MB is free, and as much as what could not be written)",
    )
    max_memory: int = setting(
        Bytes(),
        0,
        "memory for responses in progress, over all hosts: when it is used up, no further request is sent. Responses"
        " over 4 MiB are kept on disk; 0: an eighth of the machine's memory",
    )
    log: tuple[str, ...] = setting(
        Words(tuple(FORMATS)), ("json",), "formats of [the log](report.md#the-log) that a crawl writes to its folder"
    )
    changefreq: tuple[tuple[str, float], ...] = setting(
        Pairs('`{"daily": SECONDS}`', "periods"),
        (),
        "seconds between changes for a sitemap's `changefreq`, if `daily` does not mean a day",
    )
    page_resources: int = setting(
        Whole(),
        PAGE_RESOURCES,
        "maximum number of files fetched that one page, with its style sheets, is the first to embed; the others are"
        " listed as refused. 0: no limit, but at most 6,000 are read from a page",
    )
    obey_robots: bool = setting(
        Flag(), True, "read and obey robots.txt (`site`; a project's own spider: `ROBOTSTXT_OBEY`)"
    )
    max_delay: float = setting(
        Duration(),
        _USUAL.max_delay,
        "maximum time between two requests to a host (the same as in Heritrix; 288 pages a day). A host whose"
        " robots.txt asks for more (`Crawl-delay`, `Request-rate`) is left out, with a note in the report",
    )
    attempts: int = setting(
        Whole(1),
        _USUAL.attempts,
        "attempts of one fetch, in all (`site`; a project's own spider: `RETRY_TIMES`). An answer over"
        " `DOWNLOAD_MAXSIZE` has one. A page that gave no answer, 429, 502, 503 or 504 each time has one more at the"
        " end of the visits, at least twelve times `SHARC_BACK_OFF` later, until three in a row fail on a host. A"
        " `robots.txt` has four more, over six minutes, before any page of its host. A sitemap has two more, one during"
        " the visits and one at their end (`sharc-attested`: four, before them). 1: no retries at all",
    )
    back_off: float = setting(
        Duration(),
        _USUAL.back_off,
        "time before the second attempt, doubled for each further one. If a page fails when nothing else is left to"
        " visit, the revisits wait that long, plus `DOWNLOAD_TIMEOUT` for each attempt without an answer",
    )
    browser_time: float = setting(
        Duration(), 30.0, "maximum processor time of a page in a browser ([bounds](browser.md#bounds))"
    )
    allowed_addresses: tuple[str, ...] = setting(
        TextList("networks, as `127.0.0.0/8`"),
        (),
        "private networks that may be contacted. A private address that you give as `url=` is allowed for its own"
        " site's capture, at its port",
    )
    operator: str | None = setting(Contact(), None, "your contact, sent in the User-Agent")
    revisit_callbacks: bool = setting(Flag(), False, "also pass revisits to a project's callbacks")
    progress: bool = setting(Flag(), True, "show the progress line on stderr")

    @property
    def bounds(self) -> dict[str, float]:
        """The budget of each site capture; 0: no bound."""
        return {name: getattr(self, name) for name in BOUNDS}
