"""Encoders, rerankers, late interaction and contexts: models on this machine and elsewhere."""
