"""Results of promptfoo: ``promptfoo eval -o results.json`` (or ``.jsonl``).

A system is a provider with a prompt, and a test case that ``--repeat`` ran again has several
trials. A result whose provider or grader failed (``failureReason`` 2) has no score.
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256
from pathlib import Path

from karat.extensions.eval_tools.documents import (
    Record,
    keys_in,
    no_scores,
    number,
    read_json,
    read_lines,
    record,
    records,
    short,
    text,
)
from karat.extensions.scores.readers import ScoreFile, ScoreOptions, ScoreReader
from karat.extensions.scores.record import ScoreMeasure, ScoreRow
from karat.system.words import counted

COSTS = {"cost": "cost", "latencyMs": "latency_ms"}
FAILED = 2
# What tells one test case from another; a result has more of it, such as its own options.
CASE = ("description", "vars", "assert", "threshold")
HASH_LENGTH = 8


def detect(_path: str, head: bytes) -> bool:
    """Return whether an export, or a line of one, begins here."""
    keys = keys_in(head)
    return {"evalId", "results", "prompts"} <= keys or {"promptIdx", "testIdx", "success"} <= keys


def read(path: Path, options: ScoreOptions) -> ScoreFile:
    """Return the scores of an export."""
    if ".jsonl" in path.suffixes:
        results = list(read_lines(path, options.limits))
    else:
        outer = record(record(read_json(path, options.limits)).get("results"))
        results = records(outer.get("results"))
    # They are in the order in which they ended.
    results.sort(
        key=lambda each: (number(each.get("testIdx")) or 0, number(each.get("promptIdx")) or 0)
    )
    systems = _systems(results)
    queries = _queries(results)
    costs = _costs(results)
    rows = [
        ScoreRow(
            queries[_case(result)],
            systems[_arm(result)],
            _scores(result, costs),
            text=_variables(result),
            failed=_failed(result),
        )
        for result in results
    ]
    if not any(row.scores for row in rows):
        raise no_scores(path, "results of promptfoo: {results: {results: [...]}}")
    rows = _without_copies(rows)
    failed = sum(row.failed for row in rows)
    remark = f"{path.name}: {counted(failed, 'result')} failed with an error of its provider"
    measures = [ScoreMeasure(name, low=0.0, lower_is_better=True) for name in costs.values()]
    fields = {"system": "provider and prompt", "query": "test case"}
    return ScoreFile(rows, fields, measures, remarks=(remark,) if failed else ())


def _arm(result: Record) -> tuple[str, str]:
    """Return the provider and the prompt of a result."""
    provider = result.get("provider")
    name = text(record(provider).get("label")) or text(record(provider).get("id")) or text(provider)
    prompt = record(result.get("prompt"))
    return name, text(prompt.get("label")) or text(prompt.get("raw")) or text(result.get("prompt"))


def _systems(results: Iterable[Record]) -> Mapping[tuple[str, str], str]:
    """Return the name of each provider with each prompt: of the one that varies, or of both."""
    arms = list(dict.fromkeys(map(_arm, results)))
    prompts = len({prompt for _, prompt in arms})
    providers = len({provider for provider, _ in arms})
    names = {}
    for provider, prompt in arms:
        parts = [provider] if providers > 1 or prompts < 2 else []
        parts += [short(prompt)] if prompts > 1 else []
        names[provider, prompt] = ", ".join(parts)
    return _told_apart(names)


def _told_apart(names: Mapping[tuple[str, str], str]) -> Mapping[tuple[str, str], str]:
    """Return *names* with a number after those that several have."""
    counts = Counter(names.values())
    numbers: Counter[str] = Counter()
    result = {}
    for key, name in names.items():
        numbers[name] += 1
        result[key] = f"{name} ({numbers[name]})" if counts[name] > 1 else name
    return result


def _case(result: Record) -> str:
    """Return what identifies the test case of a result: its repetitions and other files share it.

    The numbers of test cases do not: ``--repeat`` counts on, and other files have other cases.
    """
    case = record(result.get("testCase"))
    known = {name: case[name] for name in CASE if name in case}
    known.setdefault("vars", result.get("vars"))
    return json.dumps(known, sort_keys=True)


def _queries(results: Iterable[Record]) -> Mapping[str, str]:
    """Return the id of each test case: its description or variables, where these tell it apart."""
    names = {_case(result): _name(result) for result in results}
    counts = Counter(names.values())
    return {
        case: name
        if name and counts[name] == 1
        else f"{name} #{sha256(case.encode()).hexdigest()[:HASH_LENGTH]}".strip()
        for case, name in names.items()
    }


def _name(result: Record) -> str:
    described = text(record(result.get("testCase")).get("description"))
    return short(described or _variables(result))


def _variables(result: Record) -> str:
    """Return the variables of a test case as one text."""
    variables = record(result.get("vars")) or record(record(result.get("testCase")).get("vars"))
    return ", ".join(
        f"{name}: {value if isinstance(value, str) else json.dumps(value)}"
        for name, value in variables.items()
    )


def _failed(result: Record) -> bool:
    """Return whether there is no verdict: a failed assertion fills the field ``error`` as well."""
    reason = number(result.get("failureReason"))
    if reason is None:
        return bool(result.get("error")) and not result.get("gradingResult")
    return reason == FAILED


def _costs(results: Iterable[Record]) -> Mapping[str, str]:
    """Return field and name of the costs; a provider without prices reports 0 everywhere."""
    used = {field for result in results for field in COSTS if number(result.get(field))}
    return {field: name for field, name in COSTS.items() if field in used}


def _scores(result: Record, costs: Mapping[str, str]) -> Mapping[str, float | None]:
    if _failed(result):
        return {}
    named = {name: number(value) for name, value in record(result.get("namedScores")).items()}
    return {
        "success": number(result.get("success")),
        "score": number(result.get("score")),
        **named,
        **{name: number(result.get(field)) for field, name in costs.items()},
    }


def _without_copies(rows: list[ScoreRow]) -> list[ScoreRow]:
    """Return *rows* without the measure ``score`` if it is ``success`` under another name."""
    if any(row.scores.get("score") != row.scores.get("success") for row in rows):
        return rows
    return [row._replace(scores=dict(_without(row.scores, "score"))) for row in rows]


def _without(scores: Mapping[str, float | None], left: str) -> Iterator[tuple[str, float | None]]:
    return ((name, score) for name, score in scores.items() if name != left)


READER = ScoreReader(
    "promptfoo",
    "results of promptfoo (.json, .jsonl): scores of providers and prompts on test cases",
    detect,
    read,
)
