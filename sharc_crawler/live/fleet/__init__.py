"""| A worker of a fleet: one engine for many sites, each for as long as this worker holds it."""
