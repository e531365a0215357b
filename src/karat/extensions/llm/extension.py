"""A library: others need it to ask models behind endpoints. It adds nothing itself."""

from karat.extension import Extension

EXTENSION = Extension(
    "llm", "Ask models behind endpoints, with limits of rate and costs, and cached answers."
)
