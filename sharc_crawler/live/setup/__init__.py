"""From a command line to captures: arguments, output folder, operator, places."""
