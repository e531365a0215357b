"""What the extension adds: the commands that make and update gold sets, and the demo."""

from karat.extension import Command, Extension

COMMANDS = "karat.extensions.mining.commands"
MAKE = "Make a gold set"

EXTENSION = Extension(
    "mining",
    "Make gold sets from the history and the texts of repositories.",
    commands={
        "demo": Command(
            f"{COMMANDS}.demo:command",
            "Compare engines on a bundled example: offline, half a minute.",
            "Try it",
            single_threaded=True,
        ),
        "generate": Command(
            f"{COMMANDS}.generate:command",
            "Mine a gold set from the history of a Git repository.",
            MAKE,
            after=MAKE,
        ),
        "carry": Command(
            f"{COMMANDS}.carry:command", "Update a gold set to a newer commit.", MAKE, after="judge"
        ),
    },
    adds={"gold_source": {"mining": "karat.extensions.mining.gold_source:SOURCE"}},
    needs=("llm",),
)
