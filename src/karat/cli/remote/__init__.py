"""Commands that run on a service instead of here: ``karat --server URL ...``."""
