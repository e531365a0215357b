"""JSON and CSV: what programs and spreadsheets read."""

import csv
import io
import json
from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.api import compare, evaluate
from karat.formats.records import unguard
from karat.model import QueryStatus
from karat.report.csv import queries_csv, result_csv
from karat.report.json import plain, result_json

GOLD = {"=1+2": {"a": 1.0}, "q,2": {"b": 1.0}, "q3": {"c": 0.0}}
RUN = {"=1+2": {"a": 1.0}, "q,2": {"x": 2.0, "b": 1.0}, "q3": {"c": 1.0}}


def refuse(text: str) -> None:
    raise AssertionError(text)


def test_numbers_that_json_lacks_become_null() -> None:
    assert plain({"a": (nan, inf, -inf, 1.5), QueryStatus.ERROR: QueryStatus.TIMEOUT}) == {
        "a": [None, None, None, 1.5],
        "error": "timeout",
    }


JSONISH = st.recursive(
    st.floats()
    | st.integers()
    | st.text()
    | st.none()
    | st.booleans()
    | st.sampled_from(QueryStatus),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(JSONISH)
def test_anything_plain_is_json(value: object) -> None:
    text = json.dumps(plain(value), allow_nan=False)
    assert json.loads(text, parse_constant=refuse) == plain(value)


def test_a_scored_run_as_json() -> None:
    evaluation = evaluate(GOLD, RUN, ["mrr"], confidence=None)
    value = json.loads(result_json(evaluation, {"seed": 0}), parse_constant=refuse)
    assert (value["schema"], value["settings"]) == (1, {"seed": 0})
    assert value["run"]["metrics"]["mrr"] == {
        "measure": "mrr",
        "label": "mrr",
        "mean": 0.75,
        "answered": 0.75,
        "n": 2,
        "interval": None,
    }
    assert value["run"]["queries"][2] == {
        "query_id": "q3",
        "status": "unjudged",
        "scores": {"mrr": None},
    }


def test_a_contest_as_json_is_the_same_for_the_same_seed() -> None:
    first, again = (
        result_json(compare(GOLD, {"a": RUN, "b": RUN}, ["mrr"], draws=99), {}) for _ in range(2)
    )
    assert first == again
    json.loads(first, parse_constant=refuse)


def test_cells_of_csv_are_quoted_and_guarded() -> None:
    evaluation = evaluate(GOLD, RUN, ["mrr"], confidence=None)
    text = queries_csv([evaluation])
    assert "'=1+2" in text
    rows = list(csv.reader(io.StringIO(text, newline="")))
    assert [unguard(row[1]) for row in rows[1:]] == list(GOLD)
    assert [row[3] for row in rows[1:]] == ["1.0", "0.5", ""]


def test_every_row_of_csv_has_as_many_cells_as_the_header() -> None:
    contest = compare(GOLD, {"+a": RUN, "b": RUN}, ["mrr", "ap"], draws=99, by=["file-type"])
    evaluation = evaluate(GOLD, RUN, ["mrr"], by=["file-type"], draws=99)
    for text, count in (
        (result_csv(contest), 1 + 2 * 2),
        (result_csv(evaluation), 1 + 2),
        (queries_csv(contest.evaluations), 1 + 2 * 3),
    ):
        rows = list(csv.reader(io.StringIO(text, newline="")))
        assert len(rows) == count
        assert {len(row) for row in rows} == {len(rows[0])}
        assert "nan" not in text


def test_a_negative_number_is_no_formula() -> None:
    worse = {"=1+2": {"x": 2.0, "a": 1.0}, "q,2": {"x": 2.0, "b": 1.0}}
    rows = list(
        csv.DictReader(
            io.StringIO(result_csv(compare(GOLD, {"a": RUN, "b": worse}, ["mrr"], draws=99)))
        )
    )
    assert float(rows[0]["difference"]) == pytest.approx(-0.25)


def test_programs_read_the_decision_on_a_difference() -> None:
    gold = {f"q{n}": {"a": 1.0} for n in range(20)}
    good = {query: {"a": 1.0} for query in gold}
    bad = {query: {"x": 1.0} for query in gold}
    contest = compare(gold, {"bad": bad, "good": good, "same": good}, ["hit@1"], draws=99)
    value = json.loads(result_json(contest, {}))
    pairs = {(e["baseline"], e["system"]): e for e in value["comparison"]["differences"]}
    assert {pair: entry["significant"] for pair, entry in pairs.items()} == {
        ("bad", "good"): True,
        ("bad", "same"): True,
        ("good", "same"): False,
    }
    assert (pairs["bad", "good"]["changed"], pairs["good", "same"]["changed"]) == (20, 0)
    rows = list(csv.DictReader(io.StringIO(result_csv(contest))))
    assert [row["significant"] for row in rows] == ["yes", "yes", "no"]
