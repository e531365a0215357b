"""What the extension adds: the command karat load."""

from karat.extension import Command, Extension

EXTENSION = Extension(
    "load",
    "Measure latency under load.",
    commands={
        "load": Command(
            "karat.extensions.load.command:command",
            "Measure latency under load.",
            "Run engines",
            after="init",
        )
    },
)
