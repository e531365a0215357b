"""Queries from the text of a corpus: docstrings, headings, tests, and questions of a model."""
