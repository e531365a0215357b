"""Training data from a gold set: collect texts, and export them."""
