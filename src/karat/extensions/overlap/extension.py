"""What the extension adds: a run in place of a gold set, and the measures that compare two runs."""

from karat.extension import Extension

EXTENSION = Extension(
    "overlap",
    "Compare runs without a gold set: overlap, churn and rank-biased overlap.",
    adds={
        "metric": {
            "overlap": "karat.extensions.overlap.metrics:overlap",
            "churn": "karat.extensions.overlap.metrics:churn",
            "rbo": "karat.extensions.overlap.metrics:rbo",
        },
        "format": {"ranking": "karat.extensions.overlap.ranking:FORMAT"},
    },
)
