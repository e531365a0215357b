"""Mine datasets from Git history, and update them for newer commits."""
