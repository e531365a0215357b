"""Child processes that compute statistics, judging orders and searches for the API."""
