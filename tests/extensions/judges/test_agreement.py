"""The agreement of models with people: pairs, judges and their vote, runs, and missing labels."""

from dataclasses import replace
from random import Random

import pytest

from karat.errors import InputError
from karat.extensions.judges.agreement import AgreementReport, compare_judges
from karat.extensions.judges.agreement_view import agreement_plain, agreement_tables, verdict
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.comparison import Interval
from karat.model.judgments import JudgmentRecord, with_judgments, with_model_labels
from karat.scoring.settings import Confidence

NOON = "2026-01-01T12:00:00Z"
QUICK = Confidence(draws=199)
GRADES = (0, 0, 1, 2, 3)


def made(
    errors: dict[str, float], *, queries: int = 40, favour: str = "", binary: bool = False
) -> tuple[Dataset, dict[str, Run]]:
    """Return a gold set that models labelled with these shares of errors, and two runs.

    The judges call every hit that the run *favour* alone ranks first relevant.
    """
    rng = Random(1)
    cases = []
    answers: dict[str, list[Answer]] = {"one": [], "two": []}
    for number in range(queries):
        paths = [f"{number}/{index}.py" for index in range(6)]
        people = {path: float(rng.choice(GRADES[: 3 if binary else 5])) for path in paths}
        orders = {name: rng.sample(paths, len(paths)) for name in answers}
        labels = []
        for judge, share in errors.items():
            for path, grade in people.items():
                given = float(rng.choice(GRADES)) if rng.random() < share else grade
                if binary:
                    given *= 3
                first = [name for name, order in orders.items() if order[0] == path]
                if first == [favour]:
                    given = 3.0
                labels.append(JudgmentRecord(Target(path, given), judge, NOON))
        query = Query(f"q{number}", "who", tuple(Target(*each) for each in people.items()))
        cases.append(with_model_labels(query, labels))
        for name, order in orders.items():
            hits = tuple(Hit(path, score=-rank) for rank, path in enumerate(order))
            answers[name].append(Answer(query.id, hits))
    runs = {name: Run.of(answer_list, name=name) for name, answer_list in answers.items()}
    return Dataset.of(cases, name="gold", match="exact"), runs


def test_a_perfect_judge_agrees_in_everything() -> None:
    report = compare_judges(*made({"m1": 0.0}), confidence=QUICK)

    (judge,) = report.judges
    assert judge.name == "m1"
    assert (report.pairs, report.queries, judge.agreement.kappa) == (240, 40, 1.0)
    assert all(
        count == 0
        for row, counts in enumerate(judge.table.counts)
        for column, count in enumerate(counts)
        if row != column
    )
    assert report.order.tau == 1.0
    assert [run.people for run in report.runs] == [run.model for run in report.runs]
    assert [(run.bias.bias, run.bias.p) for run in report.runs] == [(0.0, 1.0)] * 2
    assert report.needed.hits is None
    assert verdict(report).endswith("not below 0.6. No run is significantly favoured.")


def test_a_random_judge_agrees_by_chance() -> None:
    report = compare_judges(*made({"m1": 1.0}, queries=150), confidence=QUICK)

    assert report.used.agreement.kappa == pytest.approx(0, abs=0.1)
    assert "below 0.6: numbers that use these labels are marked" in verdict(report)


def test_each_judge_and_the_vote() -> None:
    report = compare_judges(*made({"m1": 0.8, "m2": 0.2, "m3": 0.2}), confidence=QUICK)

    assert [judge.name for judge in report.judges] == ["m1", "m2", "m3", "vote of 3 models"]
    kappas = [judge.agreement.kappa or 0.0 for judge in report.judges]
    assert kappas[0] < min(kappas[1:3]) < kappas[3]
    assert report.used.judges == ("m1", "m2", "m3")
    assert report.needed.hits is not None
    assert report.needed.hits > 0
    assert report.needed.queries is not None
    assert report.needed.queries > 0


def test_a_judge_that_favours_one_run() -> None:
    fair = compare_judges(*made({"m1": 0.0}), confidence=QUICK)
    partial = compare_judges(*made({"m1": 0.0}, favour="two"), confidence=QUICK)

    biases = {run.run: run.bias for run in partial.runs}
    assert (biases["two"].bias or 0) > 0.02
    assert (biases["two"].p or 1) < 0.01
    assert biases["one"].bias == pytest.approx(-(biases["two"].bias or 0))
    assert "Models score some runs differently from people: one" in verdict(partial)
    assert [run.people for run in fair.runs] == pytest.approx(
        [run.people for run in partial.runs], abs=0.1
    )


def test_grades_of_models_are_binary_if_those_of_people_are() -> None:
    report = compare_judges(*made({"m1": 0.0}, binary=True), confidence=QUICK)

    assert report.used.is_binary
    assert report.used.agreement.kappa == 1.0
    assert report.used.table.grades == (0.0, 1.0)
    assert agreement_tables(report)[0].notes[1] == (
        "the highest grade of the gold set is 1, so grades of models are scaled: 0 as 0, 1 as "
        "0, 2 as 1 "
        "and 3 as 1"
    )


def test_a_judge_that_follows_the_rubric_agrees_in_a_set_of_three_grades() -> None:
    data, runs = made({"m1": 0.0})
    queries = [
        query._replace(
            targets=tuple(each._replace(grade=max(0.0, each.grade - 1)) for each in query.targets)
        )
        for query in data.queries()
    ]
    report = compare_judges(data.with_queries(queries), runs, confidence=QUICK)

    assert report.used.agreement.kappa == 1.0
    assert not report.used.is_binary
    assert report.used.table.grades == (0.0, 1.0, 2.0)
    assert [run.people for run in report.runs] == [run.model for run in report.runs]


def test_one_run_has_no_order() -> None:
    data, runs = made({"m1": 0.3})
    report = compare_judges(data, {"one": runs["one"]}, confidence=QUICK)

    assert report.order.tau is None
    assert report.runs[0].bias.bias is None
    assert "favoured" not in verdict(report)
    assert "order" not in " ".join(agreement_tables(report)[2].notes)


def test_the_order_is_compared_from_three_runs_on() -> None:
    data, runs = made({"m1": 0.3})
    first, second = runs.values()

    def notes(*ranked: Run) -> str:
        named = {f"run {index}": run for index, run in enumerate(ranked)}
        return " ".join(agreement_tables(compare_judges(data, named, confidence=QUICK))[2].notes)

    assert "order" not in notes(first, second)
    assert "order of 3 runs: Kendall's tau-b" in notes(first, second, first)
    assert "order of runs: unknown, as all means are the same" in notes(first, first, first)
    assert "bias: how much higher models score this run" in notes(first, second)


@pytest.mark.parametrize(
    ("grade", "text"), [(1, "no hit as not relevant"), (0, "no hit as relevant")]
)
def test_one_grade_of_people_gives_no_kappa(grade: float, text: str) -> None:
    paths = [f"{letter}.py" for letter in "abcdef"]
    labels = [JudgmentRecord(Target(path, 2 * (path != "a.py")), "m1", NOON) for path in paths]
    targets = tuple(Target(path, grade) for path in paths)
    cases = [with_model_labels(Query(name, "who", targets), labels) for name in ("q", "r")]
    run = Run.of([Answer("q", (Hit("a.py"),))], name="one")
    report = compare_judges(Dataset.of(cases, match="exact"), {"one": run}, confidence=QUICK)

    assert report.used.agreement.kappa is None
    assert report.used.agreement.share == pytest.approx(5 / 6 if grade else 1 / 6)
    assert verdict(report) == (
        f"Agreement of m1 with the gold set is unknown: people judged {text}, so kappa cannot be "
        "computed. Grade some hits with karat judge --next."
    )
    notes = " ".join(note for table in agreement_tables(report) for note in table.notes)
    assert "kappa:" not in notes


def test_labels_are_those_of_people_only_if_someone_judged() -> None:
    data, runs = made({"m1": 0.0}, binary=True)
    generated = compare_judges(data, runs, confidence=QUICK)
    queries = list(data.queries())
    record = JudgmentRecord(Target("elsewhere.py", 0), "ann", NOON)
    judged = data.with_queries([with_judgments(queries[0], [record]), *queries[1:]])
    by_people = compare_judges(judged, runs, confidence=QUICK)

    def words(report: AgreementReport) -> str:
        tables = agreement_tables(report)
        columns = [column.title for table in tables for column in table.columns]
        cells = [row[0].text for table in tables for row in table.rows]
        notes = [note for table in tables for note in table.notes]
        titles = [table.title for table in tables]
        return "; ".join([*titles, *columns, *cells, *notes, verdict(report)])

    assert "people: 1" in words(by_people)
    assert "labels of models and people" in words(by_people)
    assert "labels of models and of the gold set on 240 hits" in words(generated)
    assert "gold set: 1" in words(generated)
    assert words(generated).count("people") == words(by_people).count("judged by people")


def test_without_an_interval_the_labels_are_marked() -> None:
    data, runs = made({"m1": 0.0})
    report = compare_judges(data, {"one": runs["one"]}, confidence=QUICK)
    unsure = report.used.agreement._replace(interval=Interval(None, None, 0.95, "none"))
    few = replace(report, judges=(replace(report.used, agreement=unsure),))

    assert verdict(few) == (
        "Agreement of m1 with the gold set: weighted kappa 1.00, too few queries for an interval: "
        "numbers that use these labels are marked."
    )


def test_a_judge_without_a_common_hit_is_left_out() -> None:
    data, runs = made({"m1": 0.2})
    queries = list(data.queries())
    alone = JudgmentRecord(Target("elsewhere.py", 1), "m2", NOON)
    rows = [*queries[0].extra["model_labels"]]  # type: ignore[misc]
    queries[0] = with_model_labels(
        queries[0],
        [
            *(JudgmentRecord(Target(r["path"], r["grade"]), r["judge"], r["at"]) for r in rows),
            alone,
        ],
    )
    report = compare_judges(data.with_queries(queries), runs, confidence=QUICK)

    assert [judge.name for judge in report.judges] == ["m1", "vote of 2 models"]


@pytest.mark.parametrize(("queries", "text"), [(1, "6 hits of 1 query"), (0, "no hit")])
def test_too_few_pairs_name_the_command_that_gives_them(queries: int, text: str) -> None:
    data, runs = made({"m1": 0.0}, queries=5)
    rows = [
        query if row < queries else with_model_labels(query, ())
        for row, query in enumerate(data.queries())
    ]
    with pytest.raises(InputError, match=rf"gold: {text} has labels .* --model SPEC --judged"):
        compare_judges(data.with_queries(rows), runs)


def test_json_has_every_number() -> None:
    value = agreement_plain(compare_judges(*made({"m1": 0.3}), confidence=QUICK))

    assert list(value) == [
        *("gold", "pairs", "queries", "minimum", "judges", "measure", "order", "runs", "needed"),
        "verdict",
    ]
