"""What the extension adds: Qdrant and PostgreSQL as stores of embeddings, Qdrant of words."""

from karat.extension import Extension

EXTENSION = Extension(
    "stores",
    "Store and search embeddings and words on a service.",
    adds={
        "vector_store": {
            "pgvector": "karat.extensions.stores.postgres:PgVectorStore",
            "qdrant": "karat.extensions.stores.qdrant:QdrantStore",
        },
        "lexical_store": {"qdrant": "karat.extensions.stores.qdrant_words:QdrantWords"},
    },
    aliases={"vector_store": {"postgres": "pgvector", "postgresql": "pgvector"}},
)
