"""What to fetch next, and what came of it. Pure: no sockets, no clock."""
