"""Documents of the API, made from stored results and statistics."""
