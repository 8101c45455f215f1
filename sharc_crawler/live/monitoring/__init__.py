"""What people see of a crawl while it runs, and the orders that they give it."""
