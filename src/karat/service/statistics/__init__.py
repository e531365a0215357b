"""Statistics computed in a process of their own, so that requests never wait for them."""
