"""Write the cases as plain files: TREC, JSON, CSV and a README."""

import json
from collections.abc import Iterable, Iterator
from math import isnan
from pathlib import Path

from karat.extensions.conformance.case import ERROR, NOTHING, Case
from karat.extensions.conformance.cases import CASES
from karat.system.files import write_text
from karat.system.words import counted

EXPECTED = ("case", "query", "measure", "value", "standing", "convention", "working")
RESULTS = ("case", "query", "measure", "value")
TEMPLATE = "results-template.csv"

README = """\
# Conformance of evaluators

{cases} with a few judgments and hits each. What a measure makes of them shows which convention a
program follows: the order of equal scores, queries without an answer, the ideal of nDCG.

1. Score `cases/NAME/run.txt` against `cases/NAME/qrels.txt` (TREC formats) for every case, by the
   measures in `results-template.csv`. `cases.json` has the same data.
2. Fill the column `value` of `results-template.csv`: query `all` is the mean over all queries.
   Write `nan` for no number, `error` where the program refuses the case, and nothing for a measure
   that it lacks.
3. `karat conformance check results.csv` says which conventions these are.

`expected.csv` has every convention with its value, as it is worked out by hand. *usual*: as
trec_eval does with `-c`, or as the measure is defined. *other*: another convention, which has to be
stated. *wrong*: scores that mislead.

Numbers may be rounded to four digits. Grades are linear gains, any grade above 0 is relevant.

| case | question | why the usual answer |
|---|---|---|
"""


def export(folder: Path) -> list[Path]:
    """Write all cases into *folder*, and return the files."""
    files = {
        "README.md": README.format(cases=counted(len(CASES), "case")) + "".join(_table(CASES)),
        "cases.json": json.dumps([*map(_document, CASES)], indent=1) + "\n",
        "expected.csv": _csv(EXPECTED, _expected(CASES)),
        TEMPLATE: _csv(RESULTS, ((*row, "") for row in _asked(CASES))),
    }
    for case in CASES:
        files[f"cases/{case.name}/qrels.txt"] = "".join(_qrels(case))
        files[f"cases/{case.name}/run.txt"] = "".join(_run(case))
    written = []
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_text(str(path), text)
        written.append(path)
    return written


def _table(cases: Iterable[Case]) -> Iterator[str]:
    for case in cases:
        yield f"| `{case.name}` | {case.question} | {case.why} |\n"


def _qrels(case: Case) -> Iterator[str]:
    for query, grades in case.judgments.items():
        for document, grade in grades.items():
            yield f"{query} 0 {document} {grade}\n"


def _run(case: Case) -> Iterator[str]:
    for query, hits in case.run().items():
        for rank, (document, score) in enumerate(hits, 1):
            yield f"{query} Q0 {document} {rank} {score!r} {case.name}\n"


def _asked(cases: Iterable[Case]) -> Iterator[tuple[str, str, str]]:
    for case in cases:
        for each in case.expectations:
            yield case.name, each.query, each.measure


def _expected(cases: Iterable[Case]) -> Iterator[tuple[str, ...]]:
    for case in cases:
        for each in case.expectations:
            for reading in each.readings:
                value = reading.value
                shown = ERROR if value is None else f"{value:.10g}"
                working = reading.working if shown not in (ERROR, NOTHING) else ""
                yield (
                    *(case.name, each.query, each.measure, shown),
                    *(reading.standing, reading.convention, working),
                )


def _document(case: Case) -> dict[str, object]:
    def plain(value: float | None) -> float | str:
        if value is None:
            return ERROR
        return NOTHING if isnan(value) else value

    return {
        "case": case.name,
        "question": case.question,
        "why": case.why,
        "qrels": case.judgments,
        "run": case.run(),
        "expected": [
            {
                "query": each.query,
                "measure": each.measure,
                "readings": [
                    {
                        "convention": reading.convention,
                        "value": plain(reading.value),
                        "working": reading.working,
                        "standing": reading.standing,
                    }
                    for reading in each.readings
                ],
            }
            for each in case.expectations
        ],
    }


def _csv(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    import csv
    from io import StringIO

    stream = StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return stream.getvalue()
