"""Whether the runs of a report answered the same question."""

from collections.abc import Iterator, Mapping, Sequence

from karat.report.findings.record import Findings
from karat.report.score_view import queries
from karat.scoring.metrics import parse
from karat.system.words import counted, join_names

__all__ = ["differences", "shallow"]

# What a run file may say about its inputs, and what that is called.
INPUTS = {
    "gold": "the gold set",
    "gold_digest": "the content of the gold set",
    "corpus_digest": "the content of the corpus",
    "place": "the corpus",
    "snapshot": "the snapshot",
    "candidates": "the candidate set",
    "match": "the matching mode",
    "k": "the number of hits requested",
}
# The same of a run that was kept, by its record.
RECORDED = {"gold_digest": "gold", "corpus_digest": "snapshot"}
SHORT = 12


def differences(findings: Findings) -> tuple[str, ...]:
    """Return in which inputs the runs differ, one sentence each; none where they compare.

    A run that says nothing of an input is taken to have the common one. How many hits are asked for
    is no input but an option where the runs name their options.
    """
    return tuple(_differences(findings))


def shallow(findings: Findings) -> tuple[str, ...]:
    """Return which runs returned fewer hits than a measure needs, one sentence each."""
    found = []
    for name, measured in zip(findings.names, findings.runs, strict=True):
        asked = measured.run.metadata.get("k")
        if isinstance(asked, int):
            deeper = [m for m in findings.contest.comparison.metrics if (parse(m).k or 0) > asked]
            if deeper:
                hits = counted(asked, "hit")
                has = "has" if len(deeper) == 1 else "have"
                found.append(
                    f"{name} returned at most {hits}, so {join_names(deeper)} {has} no value"
                )
    return tuple(found)


def _differences(findings: Findings) -> Iterator[str]:
    planned = all(measured.run.metadata.get("options") for measured in findings.runs)
    told = _told(findings)
    for key, what in INPUTS.items():
        if key == "k" and planned:
            continue
        said: dict[str, list[str]] = {}
        for name, inputs in zip(findings.names, told, strict=True):
            if value := str(inputs.get(key) or ""):
                said.setdefault(value, []).append(name)
        if len(said) > 1:
            parts = (f"{value} ({', '.join(names)})" for value, names in said.items())
            yield f"{what} differs: {'; '.join(parts)}"
    for name, evaluation in zip(findings.names, findings.contest.evaluations, strict=True):
        unknown = len(evaluation.notes.unknown_queries)
        if unknown:
            verb = "is" if unknown == 1 else "are"
            yield f"{name} has results for {queries(unknown)} that {verb} not in the gold set"


def _told(findings: Findings) -> list[Mapping[str, object]]:
    """Return what each run says of its inputs, digests cut short."""
    records: Sequence[Mapping[str, object]] = findings.origin.records or [{}] * len(findings.runs)
    return [
        {
            **measured.run.metadata,
            **measured.notes,
            **{key: str(record[name])[:SHORT] for key, name in RECORDED.items() if name in record},
        }
        for measured, record in zip(findings.runs, records, strict=True)
    ]
