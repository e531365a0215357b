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
from karat.system.words import join_names

# Results may be rounded to four digits.
SAME = 1e-4
UNKNOWN = Reading("none that is known", NOTHING, "wrong")
# What is reported: a number, NaN for no number, or None for an error.
Value = float | None
Key = tuple[str, str, str]


class UsualValue(NamedTuple):
    """What is usual for one measure: a number, ``nan`` or ``error``, and how it is worked out."""

    query: str
    measure: str
    value: float | str
    working: str

    def __str__(self) -> str:
        """Return the value and its working in one line."""
        if isinstance(self.value, str):
            return f"{self.measure} {self.value}"
        return f"{self.measure} {_rounded(self.value)} = {self.working}"


class ConventionFinding(NamedTuple):
    """The convention of one case, how it stands, and the measures and values that show it.

    *expected* has the usual values of these measures.
    """

    case: str
    question: str
    convention: str
    standing: Standing
    evidence: str
    expected: tuple[UsualValue, ...]


class ConformanceResult(NamedTuple):
    """The findings on a program, and the cases that its results lack."""

    findings: tuple[ConventionFinding, ...]
    missing: tuple[str, ...]

    @property
    def cases(self) -> int:
        """Return the number of cases with a finding; one whose measures differ has several."""
        return len({finding.case for finding in self.findings})

    def count(self, standing: str) -> int:
        """Return the number of findings with *standing*."""
        return sum(finding.standing == standing for finding in self.findings)


def check(path: Path) -> ConformanceResult:
    """Return which conventions the results in *path* follow, a CSV file as export writes it."""
    reported = read_results(path)
    findings: list[ConventionFinding] = []
    missing = []
    for case in CASES:
        asked = zip(case.expectations, _asked(case), strict=True)
        known = [(each, reported[key]) for each, key in asked if key in reported]
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
        _check_columns(path, reader.fieldnames or ())
        reported: dict[Key, Value] = {}
        lines: dict[Key, int] = {}
        problems = []
        for row in reader:
            try:
                _check_length(row)
                text = row["value"].strip().lower()
                if not text:
                    continue
                key = _key(row)
                if key in lines:
                    raise InputError(f"{' '.join(key)} has a value in line {lines[key]} already")
                reported[key], lines[key] = _reported(text), reader.line_num
            except InputError as error:
                problems.append(Problem(str(path), reader.line_num, str(error)))
    if problems:
        raise FormatError(problems)
    if not reported:
        raise InputError(f"{path}: no row has a value")
    return reported


def _check_columns(path: Path, names: Sequence[str]) -> None:
    lacking = [name for name in RESULTS if name not in names]
    if not lacking:
        return
    header = "".join(names)
    if len(names) == 1 and (separator := next((each for each in ";\t" if each in header), "")):
        written = "tabs" if separator == "\t" else repr(separator)
        raise InputError(f"{path}: fields are separated by {written}; expected commas")
    raise InputError(
        f"{path}: no column {', '.join(lacking)}; expected {', '.join(RESULTS)}, as in "
        "results-template.csv of karat conformance export"
    )


def _check_length(row: Mapping[str | None, str | list[str] | None]) -> None:
    """Raise InputError for a row with more or fewer fields than the header."""
    further = row.get(None) or ()
    names = [name for name in row if name is not None]
    given = sum(row[name] is not None for name in names) + len(further)
    if given != len(names):
        raise InputError(
            f"{given} fields; expected {len(names)}: {', '.join(names)}, and a point in numbers"
        )


def _key(row: Mapping[str, str]) -> Key:
    case, query, name = (row[column].strip() for column in ("case", "query", "measure"))
    asked = next((_asked(each) for each in CASES if each.name == case), None)
    if asked is None:
        raise InputError(f"no case named {case!r}; karat conformance export writes all of them")
    key = case, query, _measure(name)
    if key not in asked:
        known = join_names([" ".join(each[1:]) for each in asked])
        raise InputError(f"case {case} does not ask for {query} {name}; it asks for {known}")
    return key


def _reported(text: str) -> Value:
    """Return the number in *text*, None for an error; raise InputError for another text."""
    if text == ERROR:
        return None
    try:
        value = float(text)
    except ValueError:
        value = math.inf
    if math.isinf(value):
        raise InputError(
            f"{text!r} is not a number; expected for example 0.5, {NOTHING} or {ERROR}"
        )
    return value


def _measure(name: str) -> str:
    """Return the canonical name of a measure, so that P@5 and precision@5 are one."""
    return str(parse(name))


def _asked(case: Case) -> list[Key]:
    return [(case.name, each.query, _measure(each.measure)) for each in case.expectations]


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
    usual: dict[tuple[str, Standing], list[UsualValue]] = {}
    for (expectation, value), readings in zip(known, fitting, strict=True):
        likely = [each for each in readings if each.convention in shared] or readings or [UNKNOWN]
        key = likely[0].convention, likely[0].standing
        evidence.setdefault(key, []).append(f"{expectation.measure} {_written(value)}")
        usual.setdefault(key, []).extend(_usual_values(expectation))
    for key, values in evidence.items():
        seen_in, expected = ", ".join(values), tuple(usual[key])
        yield ConventionFinding(case.name, case.question, *key, seen_in, expected)


def _usual_values(expectation: Expectation) -> Iterator[UsualValue]:
    for reading in expectation.readings:
        if reading.standing == "usual":
            value = reading.value
            is_number = value is not None and not math.isnan(value)
            yield UsualValue(
                expectation.query,
                expectation.measure,
                value if value is not None and is_number else reading.working,
                reading.working if is_number else "",
            )


def _fits(reading: Reading, value: Value) -> bool:
    expected = reading.value
    if value is None or expected is None:
        return value is expected
    if math.isnan(value) or math.isnan(expected):
        return math.isnan(value) and math.isnan(expected)
    return abs(value - expected) <= SAME


def _written(value: Value) -> str:
    return ERROR if value is None else _rounded(value)


def _rounded(value: float) -> str:
    return f"{value:.4f}".rstrip("0").rstrip(".")
