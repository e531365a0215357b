"""What the extension adds: the command karat watch."""

from karat.extension import Command, Extension

EXTENSION = Extension(
    "watch",
    "Compare engines again whenever their files change.",
    commands={
        "watch": Command(
            "karat.extensions.watch.command:command",
            "Compare again whenever a file changes, and show what moved.",
            "Run engines",
            after="sweep",
            single_threaded=True,
        )
    },
)
