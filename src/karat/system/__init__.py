"""Processes, files and SQLite databases: the lowest layer, without domain concepts."""
