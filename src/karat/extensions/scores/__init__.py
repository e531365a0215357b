"""Scores of any evaluation: files of systems, queries and scores, compared like runs."""
