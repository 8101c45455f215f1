"""The table: a row per option, with its kind, its default and what it does, section after section.

A name with an underscore at its end (``for_``) is that without it. A new option is a row here, and ``config.name``
where it is used: arguments, settings, checks, ``scrapy crawl --help`` and the docs follow.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from sharc_crawler.archive.options import DEDUP
from sharc_crawler.frontier.hosts import Politeness
from sharc_crawler.frontier.spec import AUDIT, BOUNDS, HINTS, HOPS, LAG, PAGE_RESOURCES, ScopeKind
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
        "site to capture (a bare host name is taken as `https://`; before a port `http://` or `https://` is written);"
        " several separated by commas or blanks, captured side by side",
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
        "capture part by part, the largest coherent part first, each around a reference instant of its own; `links`"
        " needs `pip install 'sharc-crawler[links]'` ([subsites.md](subsites.md))",
        shown="the site as a whole",
        never=_INSTANT,
    )
    sitemap: tuple[str, ...] | None = argument(
        Sitemaps(), None, "`auto`: from robots.txt, else `/sitemap.xml`; `off`; or its URL", shown="`auto`"
    )
    hints: float = argument(
        Real(0, 1),
        HINTS,
        "share of all visits and revisits, at most, for second looks before the reference instant T: sitemaps, feeds"
        " and lists of changes are read again, and pages that they say have changed since their visit are visited again"
        "; 0: none ([rates.md](rates.md#second-looks-before-t))",
        never=_INSTANT,
    )
    scope: str = argument(
        Choice(get_args(ScopeKind)),
        "host",
        "what belongs to a site: `host` (with or without `www.`), `domain`, `prefix` (the seed's folder)",
    )
    include: tuple[str, ...] = argument(ReadBy("regular expression", "patterns"), (), "only pages whose URL it finds")
    exclude: tuple[str, ...] = argument(
        ReadBy("regular expression", "patterns"),
        (),
        "no pages whose URL it finds ([ready-made](arguments.md#wikis-and-blogs) for MediaWiki, WordPress and others)",
    )
    size: int = both(
        Whole(high=1e9),
        0,
        "estimated number of pages of a site, where no sitemap tells",
        shown="as many as are known",
        never=_INSTANT,
    )
    limit: int = argument(
        Whole(),
        0,
        "pages visited at most: those that turn out gone count, too, but neither revisits nor embedded files"
        " (`max_requests` counts all requests); 0: no limit, but no link is followed once 2,000,000 are known",
        shown="none",
        never=_INSTANT,
    )
    hops: int | None = argument(
        Whole(),
        None,
        "links in a row from a seed or sitemap ([which count](settings.md#what-is-no-page)), at most; 0: no limit",
        shown=f"{HOPS}, none for `dfs`",
    )
    traps: bool = argument(
        Flag(),
        True,
        "`0`: follow what looks like a trap's pages, too ([what is no page](settings.md#what-is-no-page))",
    )
    max_requests: int = both(
        Whole(), 0, "[budget](arguments.md#budgets) of each site: requests, revisits included", shown="none"
    )
    max_bytes: int = both(Bytes(), 0, "budget of each site: bytes of payload", shown="none")
    max_time: float = both(
        Duration(bare=False),
        0.0,
        "budget of each site: time while it runs (`mode=instant` ends at its next poll then, with `for=` at once)",
        shown="none",
    )
    delay: float = both(
        Duration(),
        0.0,
        "time between two requests to a host, `www.x` and `x` being one (robots.txt may ask for more)",
        setting="DOWNLOAD_DELAY",
        profile=1.0,
    )
    output: Path | None = both(
        Folder(),
        None,
        "folder for WARCs, state and report, of one crawl; `captures/%(name)s/%(time)s`: for each spider and run, as in"
        " `FEEDS`; without it a project's own spider keeps nothing",
        shown="none; `site`: `captures/HOST-TIME`",
    )
    collection: Path | None = argument(
        Folder(),
        None,
        "folder of [a collection](collection.md), made where there is none: output, history, masks, `dedup=site` and"
        " the arguments of its site follow from it; `url` names one of its sites",
        never=_INSTANT,
    )
    history: str | None = both(
        Text("file"),
        None,
        "file with the archive's history ([schema](observations.md)): rates, known pages and size come from it, and"
        " what a capture learns is added",
    )
    rates: str = both(
        RATES,
        "captures,sitemap",
        "[sources of change rates](rates.md#sources), in the order in which they are asked: `captures`, `sitemap`,"
        " `predictor:model=FILE`, …",
    )
    dry_run: bool = argument(Flag(), False, "`1`: check everything, show the plan, send nothing")

    resume: str = both(
        FlagOr("rebuild"),
        "",
        "`rebuild`: `site` goes on from state made again from the WARC files and the log, where that in the folder is"
        " [lost or damaged](report.md#lost-or-damaged-state); `1`: a project's own spider, cut off, goes on where it was"
        " when the same command is given again (needs `SHARC_OUTPUT`): [what is kept](drop-in.md#resume-a-crawl)",
        shown="`site` goes on from its state; a project's own spider does not",
    )

    # Logged in
    cookies: str | None = argument(
        COOKIES,
        None,
        "cookies that requests are made with, in Netscape's format (`cookies.txt`): of a session that you are entitled"
        " to capture ([how](capturing.md#logged-in))",
        never=_INSTANT,
    )
    state: str | None = argument(
        STATE, None, "the same, and what scripts had stored: a storage state of Playwright's", never=_INSTANT
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
        "whose session that is, in a word, as `reader`: report and certificate say it (with one of these files)",
    )
    keep_secrets: bool = argument(
        Flag(), False, "`1`: leave the session's secrets in WARC requests (with one of these files)"
    )

    # Pages made by script
    browser: str = argument(
        Choice(("never", "auto", "always")),
        "never",
        "`always`: each page is shown by a Chromium, whose every request the crawl makes for it, and archives"
        "; `auto`: those of classes of URLs where that shows more ([browser.md](browser.md))",
        section=SHOWN,
        never=_INSTANT,
    )
    behaviors: tuple[str, ...] = argument(
        Words(("scroll", "more")),
        ("scroll",),
        "what is done with each page that rests: `scroll` it, and its parts, to their ends; click on what says `more`"
        " ([bounds](browser.md#bounds))",
        needs=_SHOWN,
    )
    post: bool = argument(
        Flag(),
        False,
        "`1`: send what scripts ask by POST, too, at both downloads of a page, as sites with GraphQL need it; it may"
        " have an effect there",
        needs=_SHOWN,
    )
    screenshots: bool = argument(
        Flag(),
        False,
        "`1`: archive a picture of the first screen of each page that a browser shows, as `urn:view:URL`",
        needs=_SHOWN,
    )
    text: bool = argument(
        Flag(), False, "`1`: archive what each page that a browser shows says then, as `urn:text:URL`", needs=_SHOWN
    )

    # While it runs
    control: bool = both(
        Flag(),
        True,
        "say how far the crawl is (`sharc watch`), and take orders from `sharc control` (in a project: all"
        " but `delay`, which its download slots keep)",
        section=RUNS,
    )

    # Which of many seeds
    ranker: str | None = argument(
        Text("name"),
        None,
        "chooses among the `seeds` by archives' history, crawls the chosen in that order and says afterwards how many"
        " had changed: `hacs`, `frequency`, … ([hacs.md](hacs.md))",
        section=SEEDS,
        shown="all seeds",
        never=_INSTANT,
    )
    theta: Threshold | None = argument(
        RealOrAuto(0, 1),
        None,
        "chosen with a probability of change of at least this; `auto`: where F1 is likely greatest",
        needs=_RANKER,
    )
    budget: int | None = argument(Whole(), None, "chosen at most", needs=_RANKER)
    timemaps: tuple[str, ...] = argument(
        TextList("files and folders"),
        (),
        "the archives' history: CDX, TimeMaps, WARC, folders of them, as `sharc seeds fetch` makes; also `history`",
        needs=_RANKER,
    )
    updates: str = argument(UPDATES, "digest", "what a change is", needs=_RANKER)
    explore: float = argument(
        Real(0, 1), 0.0, "share of the seeds left out that is crawled all the same, to estimate recall", needs=_RANKER
    )

    # Following the news
    mode: str = argument(
        Choice(("capture", "continuous", "instant")),
        "capture",
        "`capture`: whole sites, once; `continuous`: their pages are looked at again, for so long, so that all of it"
        " fits together at any instant ([collection.md](collection.md#continuous-capture)); `instant`: the seeds are hubs,"
        " polled for news ([temporal.md](temporal.md))",
        section=NEWS,
    )
    every: float = argument(Duration(0.001), 300.0, "mean time between two polls of a hub", needs=_INSTANT)
    for_: float = argument(Duration(0.001), math.inf, "how long it runs", needs=_TIMED, shown="until stopped")
    requests: float = argument(
        Whole(1),
        math.inf,
        "requests an hour at most, over all hosts (continuous: of each site, after its first visits)",
        needs=_TIMED,
        shown="no budget; `continuous` needs one",
    )
    upkeep: str = argument(
        Text("name"),
        "coherent",
        "which page is looked at when: `coherent` (most pages shown as they were, at any instant), `sharp` (least"
        " blur), `even`, or [your own](strategies.md#upkeep)",
        needs=_CONTINUOUS,
    )

    # What is kept, and what counts
    dedup: str = both(
        Choice(DEDUP),
        "capture",
        "equal payloads are stored once per `capture`, once per `site` (with `history`; replay then needs the former"
        " captures, too), once in all of a `collection`, or every time (`off`)",
        section=KEPT,
    )
    wacz: bool = both(
        Flag(),
        False,
        "package the captures as one [WACZ](https://specs.webrecorder.net/wacz/1.1.1/) file, too, when complete",
        never=_INSTANT,
    )
    sign: str | None = both(
        KEY,
        None,
        "private key (PEM, curve secp384r1), or that of a domain with its certificates (needs `timestamp`), that signs"
        " certificate and package, as [wacz-auth](https://specs.webrecorder.net/wacz-auth/0.1.0/) has it ([what it"
        " proves](certificate.md#who-and-when))",
        never=_INSTANT,
    )
    timestamp: str | None = both(
        ReadBy("URL", "authority"),
        None,
        "time stamp authority (RFC 3161) that is asked, at the end, when the certificate existed; needs `pip install"
        " 'sharc-crawler[sign]'` ([what it proves](certificate.md#who-and-when))",
        never=_INSTANT,
    )
    objects: str | None = both(
        OBJECTS,
        None,
        "object store that holds the capture: each exchange lies there before it counts, and the whole folder at the"
        " end ([object stores](capturing.md#in-an-object-store)); `output` is the working copy. Needs `pip install"
        " 'sharc-crawler[s3]'`",
        never=_INSTANT,
    )
    masks: str | None = both(
        MASKS,
        None,
        "file of what does not count as a change of content, as `sharc masks` writes it ([changes.md](changes.md))",
    )
    audit: float = argument(
        Real(0, 1),
        AUDIT,
        "share of the pages claimed on the server's word (lastmods, 304s) that is downloaded again and compared, five"
        " at least of each kind of URLs (kinds of few pages share theirs); 0: none",
        never=_INSTANT,
    )

    lag: float = argument(
        Duration(),
        LAG,
        "time after a change by which the site's sitemaps tell of it. What `sharc-attested` claims by one that was read"
        " sooner is [provisional](certificate.md#provisional-and-confirmed). Former captures may show that it is more",
        never=_INSTANT,
    )

    skip: str = argument(
        Choice(("off", "attested")),
        "off",
        "`attested` (with `collection` and `strategy=sharc-attested`): no request for a page that is as a former"
        " capture has it, by the word of sitemaps that have earned trust ([how](collection.md#skip-unchanged-pages))",
        never=_INSTANT,
    )

    # Settings of a project
    store: str = setting(
        plugin("store"),
        "sqlite",
        "what keeps the state of a crawl in its output folder: a plug-in's name, or a dotted path"
        " ([your own](stores.md)); `memory`: nothing to go on with",
    )
    writer: str = setting(WRITER, "warc", "what keeps exchanges: a plug-in's name, or a dotted path")
    detector: str = setting(
        plugin("detector"), "content", "what tells content from its trimmings: a plug-in's name, or a dotted path"
    )
    warc: bool = setting(Flag(), True, "write WARC files into the output folder (a process of their own does it)")
    warc_level: int = setting(Whole(0, 9), 6, "gzip level, 0 (stored), 1 (fast) to 9 (small)")
    warc_size: int = setting(Bytes(10_000), 1_000_000_000, "after which a new WARC file is begun")
    warcinfo: tuple[tuple[str, str], ...] = setting(
        Pairs('`{"publisher": "…"}`', "fields_told"),
        (),
        "further fields of each WARC file's first record: `publisher`, `audience`, `description`, `isPartOf`,"
        " `hostname`, `ip`, …",
    )
    codings: tuple[str, ...] = setting(
        Words(ASKED_FOR),
        ("gzip", "deflate", "br"),
        "content codings that servers are asked for (`site`). What is sent as `zstd` is archived as it came, but most"
        " replay tools cannot show it yet",
    )
    min_free: int = setting(
        Bytes(),
        100_000_000,
        "on the disk of the output folder, below which the crawl pauses until there is room; 0: only when it is full"
        " (then until 1 MB is free, and as much as what could not be written)",
    )
    max_memory: int = setting(
        Bytes(),
        0,
        "that responses may take which are under way, all hosts together: while they do, no further request is sent."
        " Larger ones than 4 MiB lie on the disk; 0: an eighth of what the machine has",
    )
    log: tuple[str, ...] = setting(
        Words(tuple(FORMATS)), ("json",), "formats of [the log](report.md#the-log) that a crawl writes in its folder"
    )
    changefreq: tuple[tuple[str, float], ...] = setting(
        Pairs('`{"daily": SECONDS}`', "periods"),
        (),
        "seconds between changes by class of a sitemap's `changefreq`, where `daily` is not a day",
    )
    page_resources: int = setting(
        Whole(),
        PAGE_RESOURCES,
        "fetched of what one page, with its style sheets, is the first to embed; the others are listed as refused. A"
        " page has up to 6,000 in any case; 0: all of them",
    )
    obey_robots: bool = setting(
        Flag(), True, "read and obey robots.txt (`site`; a project's own spider: `ROBOTSTXT_OBEY`)"
    )
    max_delay: float = setting(
        Duration(),
        _USUAL.max_delay,
        "time between two requests to a host (as Heritrix has it; 288 pages a day). A host whose robots.txt asks for"
        " more (`Crawl-delay`, `Request-rate`) is left out, with a note in the report: nothing is asked sooner than it"
        " wants",
    )
    attempts: int = setting(
        Whole(1),
        _USUAL.attempts,
        "attempts of one fetch, in all (`site`; a project's own spider: `RETRY_TIMES`). What is over `DOWNLOAD_MAXSIZE`"
        " has one. A page that brought no answer, 429, 502, 503 or 504 each time has one more at the end of the visits,"
        " twelve times `SHARC_BACK_OFF` later at least; where three in a row fail so on a host, its others have none. A"
        " `robots.txt` has four more, for six minutes, before any page of its host; a sitemap two more, one on the way"
        " and one at the visits' end (`sharc-attested`: four, before them). 1: no retries at all",
    )
    back_off: float = setting(
        Duration(),
        _USUAL.back_off,
        "time before the second attempt, doubled for each further one. A page that fails when nothing else is left to"
        " visit holds up the revisits for so long, and for `DOWNLOAD_TIMEOUT` each time it is silent",
    )
    browser_time: float = setting(
        Duration(), 30.0, "of processor time that a page may take in a browser ([bounds](browser.md#bounds))"
    )
    allowed_addresses: tuple[str, ...] = setting(
        TextList("networks, as `127.0.0.0/8`"),
        (),
        "private networks that may be contacted. A private address that is typed as `url=` needs none: it is open to"
        " its own site's capture, at its port",
    )
    operator: str | None = setting(Contact(), None, "contact of who runs the crawl; goes into the User-Agent")
    revisit_callbacks: bool = setting(Flag(), False, "hand revisits to a project's callbacks too")
    progress: bool = setting(Flag(), True, "the progress line on stderr")

    @property
    def bounds(self) -> dict[str, float]:
        """The budget of each site capture; 0: no bound."""
        return {name: getattr(self, name) for name in BOUNDS}
