"""NDCG of rankings, for use from Python: single, compared, in batches, as a stream, and online."""
