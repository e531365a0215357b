"""A library: other extensions need it to ask chat models. It adds nothing itself."""

from karat.extension import Extension

EXTENSION = Extension("llm", "Ask chat models, with cached answers and a limit of costs.")
