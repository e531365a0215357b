"""Each query is judged in the unit of its own targets."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.model import Answer, Dataset, Hit, JudgedQuery, Query, Run, Target
from karat.scoring.matching import MATCHERS, judge, trace
from karat.scoring.matching.modes import files_judged, query_targets, relevant_targets
from karat.scoring.metrics import evaluate, parse

MEASURES = [parse(name) for name in ("ndcg", "ap", "recall", "precision@3", "mrr", "set-f1")]


def judged(match: str, targets: list[Target], hits: list[Hit], **options: object) -> JudgedQuery:
    gold = Dataset.of([Query("q", "", tuple(targets))], match=match)
    return judge(gold, Run.of([Answer("q", tuple(hits))]), **options).queries[0]  # type: ignore[arg-type]


def test_one_query_with_lines_does_not_turn_the_files_of_another_into_lines() -> None:
    hits = (Hit("x.py", 9, 1, 5), Hit("x.py", 8, 6, 9), Hit("a.py", 7, 1, 5))
    files = Query("files", "", (Target("a.py"),))
    lined = Query("lines", "", (Target("a.py", 1, 3, 9),))
    gold = Dataset.of([files, lined], match="lines")
    run = Run.of([Answer("files", hits), Answer("lines", hits)])
    first, second = judge(gold, run).queries
    assert (first.ranks, first.retrieved, first.sizes) == ([2], 2, None)
    assert (second.ranks, second.retrieved) == ([3], 3)
    assert second.sizes is not None
    assert files_judged(gold) == (True, False)
    assert files_judged(gold, "exact") == (True, True)
    assert [(each.ranks, each.retrieved) for each in trace(gold, run, keep=5)] == [
        ((2,), 2),
        ((3,), 3),
    ]


def test_a_whole_file_beside_lines_collapses_to_its_first_hit() -> None:
    hits = [Hit("a.py", 9, 1, 5), Hit("a.py", 8, 6, 9), Hit("b.py", 7, 1, 5), Hit("b.py", 6, 6, 9)]
    targets = [Target("a.py"), Target("b.py", 1, 6, 9)]
    mixed = judged("lines", targets, hits)
    assert (mixed.ranks, mixed.grades, mixed.retrieved) == ([1, 3], [1.0, 1.0], 3)
    also_lined = judged("lines", [*targets, Target("a.py", 1, 6, 9)], hits)
    assert (also_lined.ranks, also_lined.retrieved) == ([1, 2, 4], 4)


@pytest.mark.parametrize(
    ("targets", "files"),
    [
        ([Target("a.py"), Target("b.py", symbol="run")], {"a.py"}),
        ([Target("a.py"), Target("a.py", symbol="run")], set()),
        ([Target("a.py"), Target("", symbol="run")], set()),
        ([Target("a.py"), Target("a.py", 0.0, symbol="run")], None),
    ],
)
def test_which_files_are_one_unit_beside_symbols(
    targets: list[Target], files: set[str] | None
) -> None:
    assert query_targets(targets, MATCHERS.get("symbol")()).files == files


def test_equal_paths_are_one_target_with_the_highest_grade() -> None:
    targets = [Target("a.py", 1, 1, 5), Target("b.py"), Target("a.py", 3, 7, 9), Target("a.py", 2)]
    distinct = query_targets(targets, MATCHERS.get("suffix")())
    assert distinct.targets == [Target("a.py", 3), Target("b.py")]
    assert distinct.positions == [0, 1, 0, 0]


@settings(max_examples=40)
@given(
    paths=st.lists(st.sampled_from("ab"), min_size=1, max_size=2, unique=True),
    hits=st.lists(
        st.tuples(st.sampled_from("abc"), st.sampled_from([1.0, 2.0, 3.0]), st.integers(1, 3)),
        max_size=6,
        unique_by=lambda hit: (hit[0], hit[2]),
    ),
    ties=st.sampled_from(["trec10", "order", "best", "worst", "expected"]),
    match=st.sampled_from(["lines", "symbol"]),
)
def test_a_query_of_whole_files_is_judged_as_in_exact_mode(
    paths: list[str], hits: list[tuple[str, float, int]], ties: str, match: str
) -> None:
    targets = [Target(path) for path in paths]
    line_hits = [Hit(path, score, line, line, symbol=f"s{line}") for path, score, line in hits]
    ours, plain = (judged(mode, targets, line_hits, ties=ties) for mode in (match, "exact"))
    assert (ours.ranks, ours.grades, ours.retrieved) == (plain.ranks, plain.grades, plain.retrieved)


AKASHIC = [Target("src/auth.cpp"), Target("", symbol="login")]


@pytest.mark.parametrize("match", ["akashic", "graded"])
def test_the_file_and_symbol_of_one_hit_are_a_perfect_answer(match: str) -> None:
    """Seed 000: two rivals for one hit would cap NDCG at .613 and AP at .5."""
    gold = Dataset.of([Query("q", "", tuple(AKASHIC))], match=match)
    run = Run.of([Answer("q", (Hit("src/auth.cpp", symbol="login"),))])
    columns = evaluate(judge(gold, run), [parse("ndcg@10"), parse("ap"), parse("recall@5")]).columns
    assert {name: column[0] for name, column in columns.items()} == {
        "ndcg@10": 1.0,
        "ap": 1.0,
        "recall@5": 1.0,
    }


def test_one_symbol_hit_is_credited_for_one_of_three_files() -> None:
    targets = [Target("a.py"), Target("b.py"), Target("c.py"), Target("", symbol="run")]
    query = judged("akashic", targets, [Hit("x.py", symbol="run"), Hit("y.py", symbol="run")])
    assert (query.ranks, query.grades) == ([1, 2], [1.0, 0.0])
    assert parse("recall").bind()(query) == pytest.approx(1 / 3)


def test_a_symbol_that_was_found_in_its_file_stands_for_no_other() -> None:
    targets = [Target("a.py"), Target("b.py"), Target("", symbol="run")]
    query = judged("akashic", targets, [Hit("a.py", symbol="run"), Hit("x.py", symbol="run")])
    assert (query.ranks, query.grades) == ([1, 2], [1.0, 0.0])


def test_the_graded_preset_raises_a_file_by_its_symbol() -> None:
    targets = [Target("a.py"), Target("b.py"), Target("", symbol="run")]
    for first, gains in (("run", [1.0, 0.7]), ("runner", [0.7, 0.7]), ("", [0.7, 0.7])):
        query = judged("graded", targets, [Hit("a.py", symbol=first), Hit("b.py")])
        assert query.grades == gains, first
        assert list(query.ideal) == [1.0, 0.7]
    part = judged("graded", targets, [Hit("x.py", symbol="runner")])
    assert part.grades == [0.4]


def test_a_symbol_raises_only_targets_of_the_highest_grade() -> None:
    """Else a ranking could have more hits above a level than the ideal has."""
    targets = [Target("a.py", 2), Target("b.py"), Target("", symbol="run")]
    query = judged("graded", targets, [Hit("b.py", symbol="run"), Hit("a.py")])
    assert query.grades == [0.7, 1.4]
    assert list(query.ideal) == [2.0, 0.7]


def test_symbols_without_a_relevant_file_stay_targets() -> None:
    akashic = MATCHERS.get("akashic")()
    names = [Target("", symbol="run"), Target("", symbol="stop")]
    assert relevant_targets(names, akashic) == (True, True)
    assert relevant_targets([*names, Target("a.py", 0.0)], akashic) == (True, True, False)
    assert relevant_targets([*names, Target("a.py", 2)], akashic, level=1) == (False, False, True)
    assert relevant_targets(
        [Target("", symbol="run"), Target("a.py")], MATCHERS.get("symbol")()
    ) == (
        True,
        True,
    )


def test_a_trace_names_the_symbol_that_a_hit_matched() -> None:
    targets = [Target("a.py"), Target("", symbol="run"), Target("", symbol="Run")]
    gold = Dataset.of([Query("q", "", tuple(targets))], match="akashic")
    run = Run.of([Answer("q", (Hit("z.py"), Hit("x.py", symbol="run"), Hit("a.py", symbol="go")))])
    (traced,) = trace(gold, run, keep=10)
    assert (traced.matched, traced.ranks) == ((-1, 1, 0), (2, 2, 2))


def test_a_query_without_an_answer_has_the_ideal_of_its_unit() -> None:
    targets = (Target("a.py", 2, 1, 5), Target("a.py", 1, 9, 9))
    files = (Target("a.py", 2), Target("a.py", 1))
    gold = Dataset.of([Query("lines", "", targets), Query("files", "", files)], match="lines")
    lined, whole = judge(gold, Run.of([])).queries
    assert (list(lined.ideal), list(whole.ideal)) == ([2.0, 1.0], [2.0])


def test_a_target_that_is_listed_twice_is_one() -> None:
    twice = [Target("a.py", 1.0, symbol="login"), Target("a.py", 2.0, symbol="login")]
    distinct = query_targets([*twice, Target("b.py", symbol="login")], MATCHERS.get("symbol")())
    assert [(target.path, target.grade) for target in distinct.targets] == [
        ("a.py", 2),
        ("b.py", 1),
    ]
    assert distinct.positions == [0, 0, 1]
