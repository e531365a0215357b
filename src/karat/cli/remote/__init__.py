"""Commands that ask a service instead of working here: ``karat --server URL ...``."""
