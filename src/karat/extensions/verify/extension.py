"""What the extension adds: the command karat verify."""

from karat.extension import Command, Extension

EXTENSION = Extension(
    "verify",
    "Repeat the runs of a report and list differences.",
    commands={
        "verify": Command(
            "karat.extensions.verify.command:command",
            "Repeat the runs of a report and list differences.",
            "Analyze results",
            after="runs",
            single_threaded=True,
        )
    },
)
