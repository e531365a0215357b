"""Tables of results, and renderers that draw them."""
