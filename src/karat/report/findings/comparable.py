"""Whether the runs of a report answered the same question."""

from collections.abc import Iterator, Mapping

from karat.report.findings.record import Findings
from karat.report.score_view import queries

__all__ = ["differences"]

# What a run file may say about its inputs, and what that is called.
INPUTS = {
    "gold": "the gold set",
    "gold_digest": "the content of the gold set",
    "corpus_digest": "the content of the corpus",
    "place": "what was searched",
    "snapshot": "the snapshot",
    "candidates": "the candidate set",
    "match": "the matching mode",
    "k": "the number of hits asked for",
}


def differences(findings: Findings) -> tuple[str, ...]:
    """Return in which inputs the runs differ, one sentence each; none where they compare.

    A run that says nothing of an input is taken to have the common one.
    """
    return tuple(_differences(findings))


def _differences(findings: Findings) -> Iterator[str]:
    for key, what in INPUTS.items():
        said: dict[str, list[str]] = {}
        for name, measured in zip(findings.names, findings.runs, strict=True):
            value = _said({**measured.run.metadata, **measured.notes}, key)
            if value:
                said.setdefault(value, []).append(name)
        if len(said) > 1:
            parts = (f"{value} ({', '.join(names)})" for value, names in said.items())
            yield f"{what} differs: {'; '.join(parts)}"
    for name, evaluation in zip(findings.names, findings.contest.evaluations, strict=True):
        unknown = len(evaluation.notes.unknown_queries)
        if unknown:
            yield f"{name} answers {queries(unknown)} that this gold set does not ask"


def _said(metadata: Mapping[str, object], key: str) -> str:
    value = metadata.get(key)
    return "" if value is None else str(value)
