"""The measures of trec_eval that Karat's own families do not already hold, one idea per file."""
