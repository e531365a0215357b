"""What the extension adds: the command karat plan."""

from karat.extension import Command, Extension

EXTENSION = Extension(
    "plan",
    "Plan an evaluation: how many queries, clusters and trials detect a difference.",
    commands={
        "plan": Command(
            "karat.extensions.plan.command:command",
            "Plan how many queries detect a difference.",
            "Score run files",
        )
    },
    needs=("scores",),
)
