"""Check which conventions another evaluator follows, and where it is wrong."""
