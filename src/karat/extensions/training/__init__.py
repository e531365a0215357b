"""Export queries, positives and hard negatives as training data."""
