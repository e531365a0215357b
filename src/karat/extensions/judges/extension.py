"""What the extension adds: the command karat judge."""

from karat.extension import Command, Extension

EXTENSION = Extension(
    "judges",
    "Judge hits by hand or with language models, and audit the labels of a gold set.",
    commands={
        "judge": Command(
            "karat.extensions.judges.command:command",
            "Grade unjudged hits by hand or with language models.",
            "Make a gold set",
            after="import-log",
        )
    },
    needs=("llm",),
)
