CREATE TABLE fleet_robots (
    host text PRIMARY KEY,
    read double precision NOT NULL,  -- by this database's clock
    text text NOT NULL
);
