"""Processes, files and SQLite databases: the lowest layer, which knows no domain word."""
