"""What the extension adds: the command karat import-log."""

from karat.extension import Command, Extension

EXTENSION = Extension(
    "import_log",
    "Make a gold set from a search log with clicks.",
    commands={
        "import-log": Command(
            "karat.extensions.import_log.command:command",
            "Make a gold set from a search log with clicks.",
            "Make a gold set",
            after="inspect",
        )
    },
)
