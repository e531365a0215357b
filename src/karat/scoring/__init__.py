"""Score runs: match hits with targets, compute measures, compare by statistics."""
