"""Runs in Parquet, in one file or in several parts."""
