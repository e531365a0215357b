"""The commands of the extension, one module each."""
