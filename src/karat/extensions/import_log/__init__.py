"""Make a gold set from a search log with clicks."""
