"""All options in one table: arguments, settings, their help and their pages in the docs come from it."""
