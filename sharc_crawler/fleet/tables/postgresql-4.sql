CREATE TABLE fleet_history (
    site text NOT NULL,  -- also of sites that were dropped
    epoch bigint NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (site, epoch)
);
ALTER TABLE fleet_history ALTER COLUMN body SET STORAGE EXTERNAL;
