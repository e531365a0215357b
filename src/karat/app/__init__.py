"""One module per user command, without printing and without HTTP."""
