"""A worker of a fleet: one engine for many sites, each as long as this worker holds it."""
