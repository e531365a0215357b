"""Chunkers: by lines, tokens, sections or syntax."""
