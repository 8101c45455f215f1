DROP INDEX fleet_site_waiting;
-- sites that nobody holds: whoever looks for one does not go through those that are held
CREATE INDEX fleet_site_free ON fleet_site (priority DESC, due)
    WHERE state = 'waiting' AND wish <> 'pause' AND owner IS NULL;
