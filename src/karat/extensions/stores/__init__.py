"""Services that store and search embeddings and words: Qdrant, and PostgreSQL with pgvector."""
