CREATE TABLE fleet_pace (
    machine TEXT PRIMARY KEY,
    due REAL NOT NULL,  -- the next turn that nobody has, by this machine's monotonic clock
    gap REAL NOT NULL,
    asked REAL NOT NULL  -- when a worker reserved one last that does not hold the site of this name
) STRICT, WITHOUT ROWID;
