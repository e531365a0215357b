"""What the extension adds: the engine ``grep-and-read``."""

from karat.extension import Extension

EXTENSION = Extension(
    "grep_and_read",
    "A deterministic agent as a baseline: it greps, opens the best files and reads.",
    adds={"engine": {"grep-and-read": "karat.extensions.grep_and_read.engine:INFO"}},
)
