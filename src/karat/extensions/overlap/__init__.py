"""Compare runs without a gold set: how much their rankings agree."""
