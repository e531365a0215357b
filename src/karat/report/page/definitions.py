"""The document of definitions: every metric and every loss reason, from their registries."""

from karat.report.findings.ranks import LOSS_REASONS
from karat.report.page.subject import Document
from karat.scoring.metrics import METRICS

__all__ = ["definitions"]


def definitions() -> Document:
    """Return what each metric and each loss reason means."""
    return {
        "metrics": [
            {
                "name": name,
                "aliases": list(METRICS.aliases(name)),
                "definition": METRICS.get(name).definition,
                "formula": METRICS.get(name).formula,
                "higher_is_better": METRICS.get(name).higher_is_better,
            }
            for name in METRICS
        ],
        "loss_reasons": [
            {
                "name": words.name,
                "definition": words.text.format(k="k", depth="the depth of the run"),
                "shade": words.shade,
            }
            for words in LOSS_REASONS.values()
        ],
    }
