-- Frontier state of one capture folder, schema version 11 (PRAGMA user_version).
-- Instants are unix seconds, rates changes per second. Append-only but for capture, host, and rate, shape and hints of a page.
CREATE TABLE capture (
    capture INTEGER PRIMARY KEY,
    spec TEXT NOT NULL,          -- JSON of CaptureSpec
    phase TEXT NOT NULL,
    started REAL NOT NULL,
    reference REAL,              -- T; null: not reached
    ended REAL,                  -- null: not complete
    notes TEXT NOT NULL,         -- JSON array; {"how_made": TEXT} where a note only tells how the capture was made
    interruptions TEXT NOT NULL, -- JSON array of [from, to]
    skipped TEXT NOT NULL,       -- JSON object, reason: number of sightings
    audit TEXT,                  -- JSON: what became of the server's word
    swings TEXT                  -- JSON array: how far the site's changes swing together, by lengths of time
);
CREATE TABLE host (
    name TEXT PRIMARY KEY,
    robots TEXT,
    delay REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE page (
    page INTEGER PRIMARY KEY,    -- dense, in the order of discovery
    capture INTEGER NOT NULL,
    key TEXT NOT NULL,           -- canonical URL
    url TEXT NOT NULL,           -- as requested
    kind TEXT NOT NULL,
    host TEXT NOT NULL,
    depth INTEGER NOT NULL,
    parent INTEGER NOT NULL,     -- page; -1: none
    via TEXT NOT NULL,
    state INTEGER NOT NULL,      -- at discovery: 0 queued, 5 lost, 6 late
    rate REAL NOT NULL,
    source TEXT NOT NULL,
    shape REAL,                  -- of the Gamma posterior; null: a point estimate
    weight REAL NOT NULL,
    hints TEXT,                  -- JSON array: the fields of Hints
    reason TEXT NOT NULL
);
CREATE TABLE visit (
    visit INTEGER PRIMARY KEY,   -- in the order they ended
    page INTEGER NOT NULL,
    slot TEXT NOT NULL,
    plan TEXT NOT NULL,
    attempt INTEGER NOT NULL,    -- 0: refused without a request
    finished INTEGER NOT NULL,   -- 0: failed, and tried again
    lease INTEGER NOT NULL,      -- number of the decision
    decided REAL NOT NULL,
    started REAL NOT NULL,
    ended REAL NOT NULL,
    result TEXT NOT NULL,
    status INTEGER,
    digest TEXT,
    decoded TEXT,                -- digest of the payload without its content coding, where it has one
    fingerprint TEXT,
    etag TEXT,
    last_modified TEXT,
    location TEXT,
    length INTEGER NOT NULL,
    media_type TEXT,
    images INTEGER,              -- counts of an HTML document; null: none was read
    tables INTEGER,
    outlinks INTEGER,
    by_script INTEGER,           -- 1: without scripts it has nothing to show
    words TEXT,                  -- digest of text and pictures, without what is made up
    date REAL,                   -- the server's clock when it answered
    warc TEXT,
    warc_offset INTEGER,
    warc_length INTEGER,
    error TEXT,
    retry_after REAL,            -- seconds, where the server asked to be left alone
    age REAL,                    -- seconds, of a copy from a cache, as the cache says
    charset TEXT,
    part INTEGER NOT NULL        -- 1: said to be a part, by Content-Range
);
CREATE INDEX page_of_capture ON page (capture);
CREATE INDEX visit_of_page ON visit (page); -- URL by URL at the end: report, certificate
CREATE TABLE link (
    page INTEGER NOT NULL,
    time REAL NOT NULL,          -- start of the download
    targets TEXT NOT NULL,       -- JSON array of pages
    PRIMARY KEY (page, time)
) WITHOUT ROWID;
CREATE TABLE lastmod (           -- what sitemaps said, where the server's word counts as evidence
    page INTEGER NOT NULL,
    read REAL NOT NULL,          -- start of the sitemap's download
    lastmod REAL NOT NULL,
    precision REAL NOT NULL
);
CREATE TABLE outside (           -- URLs that a capture was shown and does not take, each once, up to a number
    capture INTEGER NOT NULL,
    url TEXT NOT NULL,
    reason TEXT NOT NULL,
    via TEXT NOT NULL            -- where it was first seen
);
CREATE TABLE judgement (
    page INTEGER PRIMARY KEY,
    verdict TEXT NOT NULL,
    evidence TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE TABLE embed (
    page INTEGER NOT NULL,
    resource INTEGER NOT NULL,
    PRIMARY KEY (page, resource)
) WITHOUT ROWID;
CREATE TABLE novelty (           -- of instant crawls
    page INTEGER PRIMARY KEY,
    hub INTEGER NOT NULL,        -- the page, feed or sitemap that showed it first
    seen REAL NOT NULL,          -- end of the poll that did
    since REAL,                  -- start of the hub's last poll that did not; null: there was none
    published REAL,              -- by a feed or news sitemap, as it says
    earliest REAL,               -- what that may mean by our clock
    latest REAL
);
CREATE TABLE subsite (           -- parts of a site, captured one after another
    capture INTEGER NOT NULL,
    number INTEGER NOT NULL,     -- in the order in which they were captured
    name TEXT NOT NULL,
    share REAL NOT NULL,         -- of its pages that were expected to be coherent
    begun REAL NOT NULL,
    reference REAL,              -- its T, once it is captured
    ended REAL,
    branches TEXT NOT NULL,      -- JSON array: which pages belong to it
    PRIMARY KEY (capture, number)
) WITHOUT ROWID;
CREATE TABLE member (
    page INTEGER PRIMARY KEY,
    subsite INTEGER NOT NULL     -- number of the part of its site
);
CREATE TABLE kept (              -- what a driver needs to go on: requests of a project's own spider, cookies
    name TEXT PRIMARY KEY,
    text TEXT NOT NULL
);
