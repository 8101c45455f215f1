CREATE TABLE fleet_budget (
    what TEXT PRIMARY KEY CHECK (what IN ('requests', 'bytes', 'until')),
    bound REAL NOT NULL,  -- of 'until': an instant
    spent REAL NOT NULL DEFAULT 0  -- with what workers have drawn and not used yet
) STRICT, WITHOUT ROWID;
