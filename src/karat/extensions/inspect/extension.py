"""What the extension adds: the command karat inspect."""

from karat.extension import Command, Extension

MAKE = "Make a gold set"

EXTENSION = Extension(
    "inspect",
    "Show one query: its case, and where a run ranked or lost its targets.",
    commands={
        "inspect": Command(
            "karat.extensions.inspect.command:command",
            "Show the cases of a gold set, and how a run did on one of them.",
            MAKE,
            after=MAKE,
        )
    },
)
