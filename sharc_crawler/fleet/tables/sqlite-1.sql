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
CREATE INDEX fleet_site_waiting ON fleet_site (priority DESC, due) WHERE state = 'waiting' AND wish <> 'pause';
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
