"""Say which conventions the results of a program follow."""

import csv
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.errors import FormatError, InputError, Problem
from karat.extensions.conformance.case import ERROR, NOTHING, Case, Expectation, Reading, Standing
from karat.extensions.conformance.cases import CASES
from karat.extensions.conformance.export import RESULTS
from karat.scoring.metrics import parse

# Results may be rounded to four digits.
SAME = 1e-4
UNKNOWN = Reading("none that is known", NOTHING, "wrong")
# What is reported: a number, NaN for no number, or None for an error.
Value = float | None
Key = tuple[str, str, str]


class ConventionFinding(NamedTuple):
    """The convention of one case, how it stands, and the measures and values that show it."""

    case: str
    question: str
    convention: str
    standing: Standing
    evidence: str


class ConformanceResult(NamedTuple):
    """The findings on a program, and the cases that its results lack."""

    findings: tuple[ConventionFinding, ...]
    missing: tuple[str, ...]

    def count(self, standing: str) -> int:
        """Return the number of findings with *standing*."""
        return sum(finding.standing == standing for finding in self.findings)


def check(path: Path) -> ConformanceResult:
    """Return which conventions the results in *path* follow, a CSV file as export writes it."""
    reported = read_results(path)
    findings: list[ConventionFinding] = []
    missing = []
    for case in CASES:
        known = [
            (each, reported[key])
            for each in case.expectations
            if (key := (case.name, each.query, _measure(each.measure))) in reported
        ]
        if known:
            findings += _findings(case, known)
        else:
            missing.append(case.name)
    return ConformanceResult(tuple(findings), tuple(missing))


def read_results(path: Path) -> Mapping[Key, Value]:
    """Return what a program reports, by case, query and measure.

    Every wrong row is named; a row without a value is left out.
    """
    with path.open(encoding="utf-8-sig", newline="") as stream:
        reader = csv.DictReader(stream)
        lacking = [name for name in RESULTS if name not in (reader.fieldnames or ())]
        if lacking:
            raise InputError(
                f"{path}: no column {', '.join(lacking)}; expected {', '.join(RESULTS)}, as in "
                "results-template.csv of karat conformance export"
            )
        known = {case.name for case in CASES}
        reported: dict[Key, Value] = {}
        problems = []
        for row in reader:
            text = (row["value"] or "").strip().lower()
            if not text:
                continue
            try:
                key = _key(row, known)
                value = None if text == ERROR else float(text)
            except (InputError, ValueError) as error:
                what = str(error) if isinstance(error, InputError) else f"{text!r} is no number"
                problems.append(Problem(str(path), reader.line_num, what))
                continue
            reported[key] = value
    if problems:
        raise FormatError(problems)
    if not reported:
        raise InputError(f"{path}: no row has a value")
    return reported


def _key(row: Mapping[str, str], known: set[str]) -> Key:
    case = (row["case"] or "").strip()
    if case not in known:
        raise InputError(f"no case named {case!r}; karat conformance export writes all of them")
    return case, (row["query"] or "").strip(), _measure(row["measure"] or "")


def _measure(name: str) -> str:
    """Return the canonical name of a measure, so that P@5 and precision@5 are one."""
    return str(parse(name))


def _findings(
    case: Case, known: Sequence[tuple[Expectation, Value]]
) -> Iterator[ConventionFinding]:
    """Yield the convention that explains all values of a case, or else those of its measures."""
    fitting = [
        [reading for reading in expectation.readings if _fits(reading, value)]
        for expectation, value in known
    ]
    shared = set.intersection(*({each.convention for each in readings} for readings in fitting))
    evidence: dict[tuple[str, Standing], list[str]] = {}
    for (expectation, value), readings in zip(known, fitting, strict=True):
        likely = [each for each in readings if each.convention in shared] or readings or [UNKNOWN]
        key = likely[0].convention, likely[0].standing
        evidence.setdefault(key, []).append(f"{expectation.measure} {_shown(value)}")
    for (convention, standing), values in evidence.items():
        yield ConventionFinding(case.name, case.question, convention, standing, ", ".join(values))


def _fits(reading: Reading, value: Value) -> bool:
    expected = reading.value
    if value is None or expected is None:
        return value is expected
    if math.isnan(value) or math.isnan(expected):
        return math.isnan(value) and math.isnan(expected)
    return abs(value - expected) <= SAME


def _shown(value: Value) -> str:
    return ERROR if value is None else f"{value:.4f}".rstrip("0").rstrip(".")
