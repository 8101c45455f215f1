CREATE TABLE fleet_meta (name TEXT PRIMARY KEY, value ANY NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO fleet_meta VALUES ('floor', 0), ('boot', '');  -- as in PostgreSQL; of this machine

CREATE TABLE fleet_site (
    site TEXT PRIMARY KEY,
    arguments TEXT NOT NULL,
    round INTEGER NOT NULL DEFAULT 1,
    state TEXT NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'failed', 'stopped')),
    wish TEXT NOT NULL DEFAULT 'run' CHECK (wish IN ('run', 'pause', 'stop')),
    reason TEXT NOT NULL DEFAULT '',
    priority INTEGER NOT NULL DEFAULT 0,
    due REAL NOT NULL DEFAULT 0,
    owner TEXT,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL DEFAULT 0,
    expires REAL NOT NULL DEFAULT 0,  -- by this machine's monotonic clock, as is the next
    stepped REAL,
    pages INTEGER NOT NULL DEFAULT 0,
    visits INTEGER NOT NULL DEFAULT 0,
    size INTEGER NOT NULL DEFAULT 0,
    takeovers INTEGER NOT NULL DEFAULT 0
) STRICT;
-- sites that nobody holds: whoever looks for one does not go through those that are held
CREATE INDEX fleet_site_free ON fleet_site (priority DESC, due)
    WHERE state = 'waiting' AND wish <> 'pause' AND owner IS NULL;
CREATE INDEX fleet_site_owner ON fleet_site (owner) WHERE owner IS NOT NULL;

CREATE TABLE fleet_journal (
    site TEXT NOT NULL REFERENCES fleet_site ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    merged INTEGER NOT NULL DEFAULT 0,
    body BLOB NOT NULL,
    PRIMARY KEY (site, seq)
) STRICT;

CREATE TABLE fleet_worker (
    worker TEXT PRIMARY KEY,
    held INTEGER NOT NULL,
    room INTEGER NOT NULL,
    seen REAL NOT NULL,
    expires REAL NOT NULL,
    draining INTEGER NOT NULL DEFAULT 0,
    superseded INTEGER NOT NULL DEFAULT 0,
    skew REAL NOT NULL DEFAULT 0
) STRICT;

CREATE TABLE fleet_pace (
    machine TEXT PRIMARY KEY,
    due REAL NOT NULL,  -- the next turn that nobody has, by this machine's monotonic clock
    gap REAL NOT NULL,
    asked REAL NOT NULL  -- when a worker reserved one last that does not hold the site of this name
) STRICT, WITHOUT ROWID;

CREATE TABLE fleet_budget (
    what TEXT PRIMARY KEY CHECK (what IN ('requests', 'bytes', 'until')),
    bound REAL NOT NULL,  -- of 'until': an instant
    spent REAL NOT NULL DEFAULT 0  -- with what workers have drawn and not used yet
) STRICT, WITHOUT ROWID;

CREATE TABLE fleet_history (
    site TEXT NOT NULL,  -- also of sites that were dropped
    epoch INTEGER NOT NULL,
    body BLOB NOT NULL,
    masks TEXT NOT NULL DEFAULT '',  -- that hold for the site's next capture, as JSON; empty: this one learned none
    PRIMARY KEY (site, epoch)
) STRICT;

CREATE TABLE fleet_robots (
    host TEXT PRIMARY KEY,
    read REAL NOT NULL,
    text TEXT NOT NULL
) STRICT, WITHOUT ROWID;
