"""The metrics of trec_eval that Karat's core does not have."""
