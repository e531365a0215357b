"""Background jobs, and the worker processes that run them."""
