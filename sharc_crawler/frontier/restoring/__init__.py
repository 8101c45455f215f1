"""A frontier goes on where a former one was cut off."""
