"""What the extension adds: the command karat export."""

from karat.extension import Command, Extension

EXTENSION = Extension(
    "training",
    "Export queries, positives and hard negatives as training data.",
    commands={
        "export": Command(
            "karat.extensions.training.command:command",
            "Export queries, positives and hard negatives as training data.",
            "Train a model",
        )
    },
)
