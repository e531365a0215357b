"""Judge hits by hand and with language models."""
