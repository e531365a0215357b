"""Karat measures how good a search is."""
