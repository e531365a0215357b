"""Gold sets out of Git history."""
