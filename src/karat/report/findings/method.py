"""The method of a report: all that is needed to reproduce its numbers."""

from collections.abc import Iterator, Mapping, Sequence

from karat.corpus.files.selection import declared_kind
from karat.model.run import AS_RETURNED
from karat.model.timings import RunResult
from karat.report.compare_view import correction_text, draws_text
from karat.report.findings.record import Findings
from karat.report.score_view import queries
from karat.system.words import counted, first_few, join_names

TOLD = {
    "snapshot": "Snapshot mode",
    "candidates": "Candidate set",
    "kind": "Kind of file",
    "include": "Included files",
    "exclude": "Excluded files",
    "place": "Searched",
    "k": "Hits",
    "tokenizer": "Tokens of hits",
    "seed": "Order of the queries, seed",
}
# Digests and versions are those of the record, one for each run.
RECORDED = {"snapshot": "Searched, SHA-256", "versions": "Run with"}


def method_rows(findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield pairs of what and how: inputs, judging, statistics, tools."""
    comparison = findings.contest.comparison
    notes = findings.contest.evaluations[0].notes
    origin = findings.origin
    gold = findings.gold
    if findings.has_hits:
        yield "Gold set", f"{gold.name}, {len(gold):,} queries, {gold.offsets[-1]:,} targets"
    else:
        yield "Scores", f"{gold.name}, {len(gold):,} queries, {len(findings.names)} systems"
    if origin.gold_digest and findings.has_hits:
        yield "Gold set, SHA-256", origin.gold_digest
    for name, digest in zip(findings.names, origin.run_digests, strict=True):
        if digest:
            yield f"Run {name}, SHA-256", digest
    yield from _told(findings)
    yield from _recorded(findings)
    if findings.has_hits:
        unit = f": {notes.unit}" if notes.unit else ""
        match = getattr(findings.settings.get("scoring"), "match", None)
        yield "Matching", f"{match or gold.match}{unit}"
        yield "Ties", _ties(findings)
    yield "Measures", ", ".join(comparison.metrics)
    yield (
        "Intervals",
        f"{comparison.level:.0%}, studentised bootstrap, {draws_text(comparison)}"
        f"{_drawn(findings)}",
    )
    if comparison.differences:
        yield "Tests", f"paired randomisation, {correction_text(comparison)}"
    if findings.has_hits:
        yield "Latency", _timing(findings)
    yield "Made", f"{origin.made_at} by Karat {origin.version}"
    yield "With", f"Python {origin.python}, {origin.platform}"
    if origin.records:
        yield "Reproduce", "karat verify FILE runs this report again and compares every result"


def _told(findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield the settings that are recorded in the run files."""
    for key, title in TOLD.items():
        said = {
            _text(measured.run.metadata[key]) + _chosen_by(findings, key, measured)
            for measured in findings.runs
            if measured.run.metadata.get(key) is not None
        }
        if said:
            yield title, ", ".join(sorted(said))
    for text in dict.fromkeys(run.notes.get("skipped") for run in findings.runs):
        if isinstance(text, str) and text:
            yield "Skipped files", text.removeprefix("skipped ")


def _chosen_by(findings: Findings, key: str, measured: RunResult) -> str:
    """Return what has chosen the kind of file of a run."""
    if key != "kind":
        return ""
    is_declared = declared_kind(findings.gold.metadata) == measured.run.metadata[key]
    return " (declared by the gold set)" if is_declared else " (--kind)"


def _recorded(findings: Findings) -> Iterator[tuple[str, str]]:
    """Yield the settings of the runs that are recorded in the store."""
    for key, title in RECORDED.items():
        said = dict.fromkeys(_text(run[key]) for run in findings.origin.records if run.get(key))
        if said:
            yield title, "; ".join(said)


def _text(value: object) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {version}" for name, version in value.items())
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)


def _drawn(findings: Findings) -> str:
    groups = findings.contest.clusters
    return f"; resampled in {groups:,} clusters of related queries" if groups else ""


def _ties(findings: Findings) -> str:
    """Return the rules for hits with equal scores, and how many queries depend on them."""
    rules = dict.fromkeys(one.notes.ties for one in findings.contest.evaluations)
    texts = ["the order of the engine" if one == AS_RETURNED else f"rule {one}" for one in rules]
    if list(rules) == [AS_RETURNED]:
        return texts[0]
    return f"{', '.join(texts)}; changes the rank of a relevant hit in {_tied(findings)}"


def _tied(findings: Findings) -> str:
    parts = [
        f"{queries(evaluation.notes.tied)} of {evaluation.name}"
        for evaluation in findings.contest.evaluations
        if evaluation.notes.tied and evaluation.notes.ties != AS_RETURNED
    ]
    return join_names(parts) or "no query"


def _timing(findings: Findings) -> str:
    timed = [measured.timings for measured in findings.runs if measured.timings]
    if not timed:
        return "from the run files" if findings.latency else "not measured"
    alone = "undisturbed" if all(each.alone for each in timed) else "disturbed by other karat runs"
    machines = dict.fromkeys(str(one.notes.get("timed_on") or "") for one in findings.runs)
    where = join_names([name for name in machines if name])
    return (
        f"wall time per query, median of {timed[0].repetitions} repetitions, "
        f"{queries(timed[0].warm_up)} of warm-up, {alone}"
        + (f"; latency measured on {where}" if where else "")
    )


# Inputs that a run file may record, with their names.
INPUTS = {
    "gold": "the gold set",
    "gold_digest": "the content of the gold set",
    "corpus_digest": "the content of the corpus",
    "place": "the corpus",
    "snapshot": "the snapshot",
    "candidates": "the candidate set",
    "kind": "the kind of file",
    "include": "the included files",
    "exclude": "the excluded files",
    "match": "the matching mode",
    "k": "the number of hits requested",
}
# The same for a stored run, by its record.
DIGESTS = {"gold_digest": "gold", "corpus_digest": "snapshot"}
SHORT = 12


def differences(findings: Findings) -> tuple[str, ...]:
    """Return a sentence for each input that differs between the runs; none if they are comparable.

    A run that says nothing of an input is taken to have the common one. How many hits are asked for
    is no input but an option where the runs name their options.
    """
    return tuple(_differences(findings))


def shallow(findings: Findings) -> tuple[str, ...]:
    """Return which runs returned fewer hits than a measure needs, one sentence per number of hits.

    Runs without a value on the same measures share a sentence.
    """
    runs_by_lack: dict[tuple[int, tuple[str, ...]], list[str]] = {}
    for name, measured in zip(findings.names, findings.runs, strict=True):
        asked = measured.run.metadata.get("k")
        if isinstance(asked, int):
            metrics = findings.contest.comparison.metrics
            deeper = tuple(
                metric for metric in metrics if (findings.measure(metric).k or 0) > asked
            )
            if deeper:
                runs_by_lack.setdefault((asked, deeper), []).append(name)
    return tuple(
        f"{join_names(first_few(names))} returned at most {counted(asked, 'hit')}, so "
        f"{join_names(deeper)} {'has' if len(deeper) == 1 else 'have'} no value"
        for (asked, deeper), names in runs_by_lack.items()
    )


def _differences(findings: Findings) -> Iterator[str]:
    planned = all(measured.run.metadata.get("options") for measured in findings.runs)
    recorded = _inputs_of(findings)
    for key, what in INPUTS.items():
        if key == "k" and planned:
            continue
        said: dict[str, list[str]] = {}
        for name, inputs in zip(findings.names, recorded, strict=True):
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


def _inputs_of(findings: Findings) -> list[Mapping[str, object]]:
    """Return what each run says of its inputs, digests cut short."""
    records: Sequence[Mapping[str, object]] = findings.origin.records or [{}] * len(findings.runs)
    return [
        {
            **measured.run.metadata,
            **measured.notes,
            **{key: str(record[name])[:SHORT] for key, name in DIGESTS.items() if name in record},
        }
        for measured, record in zip(findings.runs, records, strict=True)
    ]
