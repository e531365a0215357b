"""Compare engines again whenever their files change."""
