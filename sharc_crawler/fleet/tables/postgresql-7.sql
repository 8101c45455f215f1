-- that hold for a site's next capture, as JSON; empty: this one learned none
ALTER TABLE fleet_history ADD COLUMN masks text NOT NULL DEFAULT '';
