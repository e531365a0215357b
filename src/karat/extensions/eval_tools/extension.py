"""What the extension adds: a reader of scores for each tool, and the runs that MTEB stores."""

from karat.extension import Extension

FOLDER = "karat.extensions.eval_tools"

EXTENSION = Extension(
    "eval_tools",
    "Compare results of Inspect, promptfoo, lm-evaluation-harness, DeepEval, Ragas, MTEB and more.",
    adds={
        "score_reader": {
            "inspect": f"{FOLDER}.inspect_logs:READER",
            "promptfoo": f"{FOLDER}.promptfoo:READER",
            "lm-eval": f"{FOLDER}.lm_eval:READER",
            "deepeval": f"{FOLDER}.deepeval:READER",
            "ragas": f"{FOLDER}.ragas:READER",
            "mteb": f"{FOLDER}.mteb:READER",
            "swe-bench": f"{FOLDER}.swe_bench:READER",
            "harbor": f"{FOLDER}.harbor:READER",
            "claude-plugin": f"{FOLDER}.claude_plugin:READER",
        },
        "format": {"mteb-predictions": f"{FOLDER}.mteb_predictions:FORMAT"},
    },
    needs=("scores",),
)
