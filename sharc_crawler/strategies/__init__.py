"""Orders of visits and revisits."""
