"""What the extension adds: the objects of the package karat.ndcg."""

from karat.extension import Extension

EXTENSION = Extension(
    "ndcg", "Score rankings in Python: single, compared, in batches, as a stream, and online."
)
