"""A visit, from the choice of what is asked for to what its end means."""
