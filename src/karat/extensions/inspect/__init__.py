"""Show one query: its case in the gold set, and what a run returned for it."""
