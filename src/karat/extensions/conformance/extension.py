"""What the extension adds: the command karat conformance."""

from karat.extension import Command, Extension

EXTENSION = Extension(
    "conformance",
    "Check which conventions another evaluator follows, and where it is wrong.",
    commands={
        "conformance": Command(
            "karat.extensions.conformance.command:command",
            "Check the conventions of another evaluator.",
            "Score run files",
        )
    },
)
