"""Corpora from folders, texts and archives, and the traits of their files."""
