"""Statistics of the grades of two judges."""
