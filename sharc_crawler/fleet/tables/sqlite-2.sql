-- the journal's last step when the site was claimed last
ALTER TABLE fleet_site ADD COLUMN began INTEGER NOT NULL DEFAULT 0;
-- owners, one after the other, whose terms ran out before they did more than begin
ALTER TABLE fleet_site ADD COLUMN silent INTEGER NOT NULL DEFAULT 0;
