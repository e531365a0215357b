"""Rows first, then the drawing: tables of results and the ways to show them."""
