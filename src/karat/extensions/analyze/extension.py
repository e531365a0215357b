"""What the extension adds: the command karat analyze."""

from karat.extension import Command, Extension

EXTENSION = Extension(
    "analyze",
    "Find weak topics, index problems and changes over time.",
    commands={
        "analyze": Command(
            "karat.extensions.analyze.command:command",
            "Find weak topics, index problems and changes over time.",
            "Analyze results",
            after="report",
        )
    },
)
