CREATE TABLE fleet_meta (name text PRIMARY KEY, value bigint NOT NULL);
INSERT INTO fleet_meta VALUES ('floor', 0);  -- epochs of sites that were dropped: one that is added anew begins above

CREATE TABLE fleet_site (
    site text PRIMARY KEY,
    arguments text NOT NULL,
    round integer NOT NULL DEFAULT 1,
    state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'done', 'failed', 'stopped')),
    wish text NOT NULL DEFAULT 'run' CHECK (wish IN ('run', 'pause', 'stop')),
    reason text NOT NULL DEFAULT '',
    priority integer NOT NULL DEFAULT 0,
    due double precision NOT NULL DEFAULT 0,
    owner text,
    epoch bigint NOT NULL,  -- the fence: one more with each owner
    seq bigint NOT NULL DEFAULT 0,  -- last step in the journal
    expires double precision NOT NULL DEFAULT 0,  -- by this database's clock
    stepped double precision,
    pages bigint NOT NULL DEFAULT 0,
    visits bigint NOT NULL DEFAULT 0,
    size bigint NOT NULL DEFAULT 0,
    takeovers integer NOT NULL DEFAULT 0
) WITH (fillfactor = 50);
-- sites that nobody holds, in the order in which they are claimed: whoever looks for one does not go through those that
-- are held. What changes with each step is in no index, so that steps are heap-only updates.
CREATE INDEX fleet_site_free ON fleet_site (priority DESC, due)
    WHERE state = 'waiting' AND wish <> 'pause' AND owner IS NULL;
CREATE INDEX fleet_site_owner ON fleet_site (owner) WHERE owner IS NOT NULL;

CREATE TABLE fleet_journal (
    site text NOT NULL REFERENCES fleet_site ON DELETE CASCADE,
    seq bigint NOT NULL,
    epoch bigint NOT NULL,
    merged boolean NOT NULL DEFAULT false,  -- this row and all before it are this row
    body bytea NOT NULL,
    PRIMARY KEY (site, seq)
);
ALTER TABLE fleet_journal ALTER COLUMN body SET STORAGE EXTERNAL;  -- it is compressed already

CREATE TABLE fleet_worker (
    worker text PRIMARY KEY,
    held integer NOT NULL,
    room integer NOT NULL,
    seen double precision NOT NULL,
    expires double precision NOT NULL,
    draining boolean NOT NULL DEFAULT false,
    superseded bigint NOT NULL DEFAULT 0,
    skew double precision NOT NULL DEFAULT 0
);

CREATE TABLE fleet_pace (
    machine text PRIMARY KEY,
    due double precision NOT NULL,  -- the next turn that nobody has, by this database's clock
    gap double precision NOT NULL,  -- of the last one
    asked double precision NOT NULL  -- when a worker reserved one last that does not hold the site of this name
);

CREATE TABLE fleet_budget (
    what text PRIMARY KEY CHECK (what IN ('requests', 'bytes', 'until')),
    bound double precision NOT NULL,  -- of 'until': an instant
    spent double precision NOT NULL DEFAULT 0  -- with what workers have drawn and not used yet
);

CREATE TABLE fleet_history (
    site text NOT NULL,  -- also of sites that were dropped
    epoch bigint NOT NULL,
    body bytea NOT NULL,
    masks text NOT NULL DEFAULT '',  -- that hold for the site's next capture, as JSON; empty: this one learned none
    PRIMARY KEY (site, epoch)
);
ALTER TABLE fleet_history ALTER COLUMN body SET STORAGE EXTERNAL;

CREATE TABLE fleet_robots (
    host text PRIMARY KEY,
    read double precision NOT NULL,  -- by this database's clock
    text text NOT NULL
);
