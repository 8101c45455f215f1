"""Pictures of tables, rates, seeds and sites, drawn by matplotlib (extra ``lab``)."""
