"""What the extension adds: the command karat fuse, and karat.fuse."""

from karat.extension import Command, Extension

EXTENSION = Extension(
    "fuse",
    "Fuse several runs into one: by reciprocal ranks, or by normalised scores.",
    commands={
        "fuse": Command(
            "karat.extensions.fuse.command:command",
            "Fuse several run files into one.",
            "Score run files",
            after="score",
        )
    },
    names={"fuse": "karat.extensions.fuse.runs:fuse"},
)
