"""The built-in extensions: each folder can be removed, and the rest still works."""
