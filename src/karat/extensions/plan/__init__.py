"""Plan an evaluation: how many queries, clusters and trials detect a difference."""
