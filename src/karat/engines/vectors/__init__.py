"""Vector stores: one contract, and the store in memory."""
