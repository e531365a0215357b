"""What trec_eval prints is what we print: each line of its own expected outputs, byte for byte."""

from collections.abc import Callable, Mapping, Sequence
from json import loads
from math import exp, log
from pathlib import Path
from typing import Any

import pytest

from karat.errors import FormatError, InputError
from karat.extensions.trec_eval.evaluation import TrecSettings, trec_eval
from karat.extensions.trec_eval.rows import TrecRow, trec_text

PARAMETERS = (
    "iprec_at_recall..10,.20,.25,.75,.50",
    "P.5,7,3",
    "recall.20,2000",
    "Rprec_mult.5.0,0.2,0.35",
    "utility.2,-1,0,0",
    "11pt_avg..25,.5,.75",
    "ndcg.1=3,2=9,4=4.5",
    "ndcg_cut.10,20,23.4",
    "success.2,5,20",
)
QUERIES: dict[str, Any] = {"queries": True}

# Expected output, judgments, run, measures, settings: the calls of trec_eval's own test.
OFFICIAL_TESTS: list[tuple[str, str, str, Sequence[str], dict[str, Any]]] = [
    ("out.test", "qrels.test", "results.test", ("official",), {}),
    ("out.comment.test", "qrels.comment.test", "results.comment.test", ("official",), {}),
    ("out.test.a", "qrels.test", "results.test", ("all_trec",), {}),
    ("out.test.a", "qrels.test.with-comments", "results.test", ("all_trec",), {}),
    ("out.test.aq", "qrels.test", "results.test", ("all_trec",), QUERIES),
    ("out.test.aqc", "qrels.test", "results.trunc", ("all_trec",), {**QUERIES, "complete": True}),
    (
        *("out.test.aqcM", "qrels.test", "results.trunc", ("all_trec",)),
        {**QUERIES, "complete": True, "depth": 100},
    ),
    (
        *("out.test.aql", "qrels.rel_level", "results.test", ("all_trec", "relstring.20")),
        {**QUERIES, "level": 2},
    ),
    ("out.test.meas_params", "qrels.test", "results.test", PARAMETERS, QUERIES),
    ("out.test.aqZ", "qrels.test", "results.test", ("all_trec",), QUERIES),
    (
        *("out.test.prefs", "prefs.test", "prefs.results.test", ("all_prefs",)),
        {**QUERIES, "judgments": "prefs"},
    ),
    (
        *("out.test.prefs", "prefs.comment.test", "prefs.results.test", ("all_prefs",)),
        {**QUERIES, "judgments": "prefs"},
    ),
    (
        *("out.test.qrels_prefs", "qrels.test", "results.test", ("all_prefs",)),
        {**QUERIES, "judgments": "qrels_prefs"},
    ),
    (
        *("out.test.qrels_jg", "qrels.123", "results.test", ("qrels_jg",)),
        {**QUERIES, "judgments": "qrels_jg"},
    ),
    (
        *("out.test.qrels_jg", "qrels.comments.123", "results.test", ("qrels_jg",)),
        {**QUERIES, "judgments": "qrels_jg"},
    ),
]

Write = Callable[[str, str], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write(name: str, text: str) -> Path:
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return write


@pytest.fixture
def small(write: Write) -> tuple[Path, Path]:
    """Two queries of which the run answers one."""
    judgments = write("qrels", "q2 0 a 1\nq1 0 a 2\nq1 0 b 0\nq1 0 c -1\nq1 0 d 1\n")
    run = write("run", "q1 Q0 x 1 9 old\nq1 Q0 c 2 8 old\nq1 Q0 b 3 7 old\nq1 Q0 a 4 6 new\n")
    return judgments, run


def numbers(rows: Sequence[TrecRow]) -> dict[tuple[str, str], float | str]:
    return {(row.measure, row.query): row.value for row in rows}


@pytest.mark.parametrize(
    ("expected", "judgments", "run", "measures", "settings"),
    OFFICIAL_TESTS,
    ids=[f"{case[0]}-{case[1]}" for case in OFFICIAL_TESTS],
)
def test_every_printed_byte_of_trec_evals_own_test(
    shared_data: Path,
    expected: str,
    judgments: str,
    run: str,
    measures: Sequence[str],
    settings: Mapping[str, Any],
) -> None:
    folder = shared_data / "trec_eval"
    rows = trec_eval(
        folder / judgments,
        folder / run,
        measures=measures,
        settings=TrecSettings(**settings),
        zscores=folder / "zscores_file" if expected.endswith("Z") else None,
    )
    assert trec_text(rows) == (folder / expected).read_text(encoding="utf-8")


GOLDEN_MEASURES = (
    *("P.5,10,20,100", "recall.5,10,20,100", "map_cut.5,10,20,100", "ndcg_cut.5,10,20,100"),
    *("success.5,10,20,100", "map", "ndcg", "Rprec", "bpref", "recip_rank", "num_rel_ret"),
    *("set_P", "set_recall", "set_F"),
)


def test_every_golden_value_under_both_tie_rules(shared_data: Path) -> None:
    settings = {"queries": True, "complete": True}
    compared = 0
    for path in sorted((shared_data / "golden").glob("*.expected.json")):
        files = path.with_name(path.name.replace(".expected.json", ""))
        both = loads(path.read_text(encoding="utf-8"))
        for ties, key in (
            ("trec9", "trec_eval9_float32_ties_full_precision"),
            ("trec10", "trec_eval10_float64_ties_4_decimals"),
        ):
            rows = trec_eval(
                files.with_name(files.name + ".qrels"),
                files.with_name(files.name + ".run"),
                measures=GOLDEN_MEASURES,
                settings=TrecSettings(**settings, ties=ties),  # type: ignore[arg-type]
            )
            lines = dict(zip(numbers(rows), trec_text(rows).splitlines(), strict=True))
            for query, expected in both[key].items():
                for name, value in expected.items():
                    if isinstance(value, str):
                        assert lines[name, query].endswith(f"\t{value}"), (path.name, query, name)
                    else:
                        ours = numbers(rows)[name, query]
                        assert ours == pytest.approx(value, abs=1e-9), (path.name, query, name)
                    compared += 1
    assert compared > 5_000


def test_a_query_that_the_run_lacks_is_left_out(small: tuple[Path, Path]) -> None:
    rows = trec_eval(*small, settings=TrecSettings(queries=True))
    values = numbers(rows)
    assert {row.query for row in rows} == {"q1", "all"}
    assert values["runid", "all"] == "new"
    assert (values["num_q", "all"], values["num_rel", "all"]) == (1, 2)
    assert values["map", "all"] == pytest.approx(0.125)


def test_complete_counts_a_missing_query_as_nothing_found(small: tuple[Path, Path]) -> None:
    measures = ("all_trec", "relstring", "yaap")
    settings = TrecSettings(queries=True, complete=True, level=2)
    values = numbers(trec_eval(*small, measures=measures, settings=settings))
    for name in ("num_ret", "utility", "rbp_resid", "unj_5", "map", "ndcg", "num_rel_ret"):
        assert values[name, "q2"] == 0, name
    assert values["relstring", "q2"] == "''"
    assert values["yaap", "q2"] == 0
    assert values["num_q", "all"] == 2
    # At level 2 only one document is relevant; over all queries trec_eval counts every one.
    assert (values["num_rel", "q1"], values["num_rel", "all"]) == (1, 3)
    assert values["map", "all"] == pytest.approx(0.125)
    assert values["gm_map", "all"] == pytest.approx(exp((log(0.25) + log(0.00001)) / 2))


def test_a_stand_in_with_parameters_is_not_forgiven(small: tuple[Path, Path]) -> None:
    measures = ("relstring.3", "utility.0,-1,0,0", "rbp_resid.p=0.5")
    settings = TrecSettings(queries=True, complete=True)
    values = numbers(trec_eval(*small, measures=measures, settings=settings))
    assert values["relstring_3", "q2"] == "'-'"
    assert values["utility_0,-1,0,0", "q2"] == -1
    assert values["rbp_resid_p=0.5", "q2"] == 1


def test_judged_only_drops_what_is_pooled_and_not_judged(small: tuple[Path, Path]) -> None:
    measures = ("relstring", "num_ret", "map")
    settings = TrecSettings(queries=True, judged_only=True)
    values = numbers(trec_eval(*small, measures=measures, settings=settings))
    assert values["relstring", "q1"] == "'02'"
    assert (values["num_ret", "q1"], values["map", "q1"]) == (2, 0.25)


def test_the_depth_is_cut_before_judged_only_thins_out(small: tuple[Path, Path]) -> None:
    settings = TrecSettings(queries=True, judged_only=True, depth=3)
    values = numbers(trec_eval(*small, measures=("relstring",), settings=settings))
    assert values["relstring", "q1"] == "'0'"


def test_no_summary_leaves_the_queries(small: tuple[Path, Path]) -> None:
    rows = trec_eval(*small, measures=("map",), settings=TrecSettings(queries=True, summary=False))
    assert [(row.measure, row.query) for row in rows] == [("map", "q1")]


def test_zscores_of_a_measure_without_reference_or_spread(
    small: tuple[Path, Path], write: Write
) -> None:
    reference = write("z", "q1 map 0.1 0.05\nq1 num_ret 4 0\nq1 num_rel 9 0\n")
    measures = ("map", "num_ret", "num_rel", "P.5")
    rows = trec_eval(*small, measures=measures, zscores=reference)
    assert [(row.measure, row.value, row.zscore) for row in rows] == [
        ("num_ret", 0.0, True),
        ("num_rel", -1_000_000.0, True),
        ("map", pytest.approx(0.5), True),
        ("P_5", -1_000_000.0, True),
    ]
    assert trec_text(rows).startswith("Znum_ret               \tall\t0.0000\n")


def test_equal_scores_in_preferences_go_by_ascending_id(write: Write) -> None:
    judgments = write("prefs", "q 0 0 a 1\nq 0 0 b 0\n")
    near = write("run", "q Q0 b 1 1.00000001 t\nq Q0 a 1 1 t\n")
    for ties, share in (("trec10", 0.0), ("trec9", 1.0)):
        settings = TrecSettings(judgments="prefs", ties=ties)
        rows = trec_eval(judgments, near, measures=("prefs_simp",), settings=settings)
        assert [row.value for row in rows] == [share]


def test_a_fraction_of_a_grade_is_cut_off_as_trec_eval_does(write: Write) -> None:
    judgments = write("qrels", "q 0 a 0.9\nq 0 b 2.9\n")
    run = write("run", "q Q0 a 1 2 t\nq Q0 b 1 1 t\n")
    settings = TrecSettings(queries=True, summary=False)
    rows = trec_eval(judgments, run, measures=("relstring",), settings=settings)
    assert rows == [TrecRow("relstring", "q", "'02'")]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"level": 0}, "level 0 is below 1"),
        ({"depth": 0}, "depth 0 is below 1"),
        ({"ties": "expected"}, "ties 'expected'"),
        ({"judgments": "prefs"}, "computed from qrels, not from prefs"),
    ],
)
def test_settings_that_cannot_be(
    small: tuple[Path, Path], settings: dict[str, Any], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        trec_eval(*small, settings=TrecSettings(**settings))


def test_no_query_in_common(small: tuple[Path, Path], write: Write) -> None:
    with pytest.raises(InputError, match="has no query of"):
        trec_eval(small[0], write("other", "q9 Q0 a 1 1 t\n"))


def test_a_bad_run_is_named_with_its_lines(small: tuple[Path, Path], write: Write) -> None:
    with pytest.raises(FormatError, match=r"bad:1: 3 fields"):
        trec_eval(small[0], write("bad", "q1 Q0 a\n"))


@pytest.mark.parametrize(
    ("swap", "text", "message"),
    [
        (
            0,
            '{"test_cases": []}',
            r"gold set \(format gold\); expected trec-qrels: karat convert .*",
        ),
        (0, "q1 Q0 a 1 0.5 t", r"run \(format trec-run\); expected trec-qrels: QRELS comes first"),
        (1, "q1 0 a 1", r"gold set \(format trec-qrels\); expected trec-run: QRELS comes first"),
        (1, "q1 Q0 a 1 0.5", r":1: no run tag; expected query Q0 document rank score tag"),
        (1, "nothing like it", r":1: 3 fields; expected 6"),
    ],
)
def test_a_file_of_another_format_is_named(
    small: tuple[Path, Path], write: Write, swap: int, text: str, message: str
) -> None:
    files = list(small)
    files[swap] = write("other", text)
    with pytest.raises(InputError, match=message):
        trec_eval(*files, measures=("map",), settings=TrecSettings())


def test_bad_preferences_are_not_taken_for_a_run(small: tuple[Path, Path], write: Write) -> None:
    bad = write("prefs", "q1 0 part 12 0.5\nq1 0\n")
    with pytest.raises(FormatError, match=r"prefs:2: 2 fields; expected 5"):
        trec_eval(bad, small[1], measures=(), settings=TrecSettings(judgments="prefs"))


def test_a_fraction_of_a_grade_is_cut_off(small: tuple[Path, Path], write: Write) -> None:
    qrels = write("fractions", "q1 0 a 1.7\nq1 0 b 0.9\n")
    run = write("both", "q1 Q0 b 1 2 t\nq1 Q0 a 2 1 t\n")
    settings = TrecSettings(queries=True)
    values = numbers(trec_eval(qrels, run, measures=("relstring", "num_rel"), settings=settings))
    assert (values["relstring", "q1"], values["num_rel", "q1"]) == ("'01'", 1)
