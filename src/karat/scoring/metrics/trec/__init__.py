"""The measures of trec_eval that Karat's own metric families lack, one idea per file."""
