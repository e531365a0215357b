"""Results of evaluation tools as scores to compare: one reader for each tool."""
