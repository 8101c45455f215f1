"""Virtual time: the same frontier on synthetic and replayed sites."""
