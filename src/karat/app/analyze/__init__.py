"""`karat analyze`: topics, embeddings, index health and trends."""
