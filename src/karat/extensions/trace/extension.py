"""What the extension adds: the command karat trace, and the readers of transcripts."""

from karat.extension import Command, Extension

FOLDER = "karat.extensions.trace"

EXTENSION = Extension(
    "trace",
    "Measure how agents search, from their transcripts.",
    commands={
        "trace": Command(
            f"{FOLDER}.command:command",
            "Measure how agents search, from their transcripts.",
            "Score run files",
        )
    },
    adds={
        "transcript_reader": {
            "harbor": f"{FOLDER}.readers.harbor:READER",
            "atif": f"{FOLDER}.readers.atif:READER",
            "claude-code": f"{FOLDER}.readers.claude_code:READER",
            "codex": f"{FOLDER}.readers.codex:READER",
            "swe-agent": f"{FOLDER}.readers.swe_agent:READER",
            "mini-swe-agent": f"{FOLDER}.readers.mini_swe_agent:READER",
            "openhands": f"{FOLDER}.readers.openhands:READER",
            "inspect": f"{FOLDER}.readers.inspect_log:READER",
            "spans": f"{FOLDER}.readers.spans:READER",
            "searches": f"{FOLDER}.readers.searches:READER",
        }
    },
    needs=("scores",),
)
