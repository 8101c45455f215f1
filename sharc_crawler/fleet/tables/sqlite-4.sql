CREATE TABLE fleet_history (
    site TEXT NOT NULL,  -- also of sites that were dropped
    epoch INTEGER NOT NULL,
    body BLOB NOT NULL,
    PRIMARY KEY (site, epoch)
) STRICT;
