CREATE TABLE fleet_budget (
    what text PRIMARY KEY CHECK (what IN ('requests', 'bytes', 'until')),
    bound double precision NOT NULL,  -- of 'until': an instant
    spent double precision NOT NULL DEFAULT 0  -- with what workers have drawn and not used yet
);
