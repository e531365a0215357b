"""The endpoints, one file per thing that a user can ask about."""
