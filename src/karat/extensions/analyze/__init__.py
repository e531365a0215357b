"""Look behind the scores: topics, embeddings, the index, and time."""
