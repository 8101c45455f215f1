CREATE TABLE fleet_pace (
    machine text PRIMARY KEY,
    due double precision NOT NULL,  -- the next turn that nobody has, by this database's clock
    gap double precision NOT NULL,  -- of the last one
    asked double precision NOT NULL  -- when a worker reserved one last that does not hold the site of this name
);
