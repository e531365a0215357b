"""The service: the answers of the command line over HTTP, for a team."""
