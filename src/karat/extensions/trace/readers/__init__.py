"""Readers of transcripts, one file each."""
