"""Statistics of interleaved rankings."""
