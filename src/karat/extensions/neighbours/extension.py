"""What the extension adds: formats, result schemas and a gate of other benchmarks."""

from karat.extension import Extension

FOLDER = "karat.extensions.neighbours"

EXTENSION = Extension(
    "neighbours",
    "Read and write files of other benchmarks, and run the gate of Octocode.",
    adds={
        "format": {
            "akashic": f"{FOLDER}.akashic:FORMAT",
            "semantik": f"{FOLDER}.semantik:FORMAT",
            "semantik-csv": f"{FOLDER}.semantik:CSV",
            "semble": f"{FOLDER}.semble:FORMAT",
            "swe-bench": f"{FOLDER}.swebench:FORMAT",
            "localization": f"{FOLDER}.swebench:LOCALIZATION",
            "akashic-report": f"{FOLDER}.akashic:REPORT",
            "ragas": f"{FOLDER}.rag_tests:RAGAS",
            "deepeval": f"{FOLDER}.rag_tests:DEEPEVAL",
        },
        "schema": {
            "akashic": f"{FOLDER}.schemas:AKASHIC",
            "octocode": f"{FOLDER}.schemas:OCTOCODE",
        },
        "gate_preset": {"octocode": f"{FOLDER}.octocode_preset:PRESET"},
    },
)
