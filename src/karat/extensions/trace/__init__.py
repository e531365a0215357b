"""Transcripts of agents against a gold set: what it took until the targets were seen."""
