"""Replace trec_eval 10."""
