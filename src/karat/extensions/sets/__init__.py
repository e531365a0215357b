"""Several gold sets with a corpus each: one comparison with a macro mean over the corpora."""
