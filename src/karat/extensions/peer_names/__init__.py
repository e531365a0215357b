"""Read the names that ranx, ir_measures, pytrec_eval and trec_eval give to measures."""
