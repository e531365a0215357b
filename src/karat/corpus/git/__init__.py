"""Corpora from Git: revisions read through plumbing commands, and chains of snapshots."""
