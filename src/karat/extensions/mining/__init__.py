"""Gold sets from the history and the texts of repositories."""
