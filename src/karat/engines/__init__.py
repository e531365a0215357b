"""Search systems that Karat can measure, and the stores they search in."""
