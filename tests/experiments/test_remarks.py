"""Runs that are the same are told, and thresholds that leave nothing."""

from dataclasses import replace

import pytest

from karat.experiments.run_records import remarks
from karat.model import Answer, Hit, Outcome, Run
from karat.model.timings import RunResult


def measured(
    name: str, *hits: tuple[str, ...], threshold: float = 0.0, factor: int = 1
) -> RunResult:
    answers = [
        Answer(f"q{row}", tuple(Hit(path, factor / rank) for rank, path in enumerate(paths, 1)))
        for row, paths in enumerate(hits)
    ]
    run = Run.of(answers, name=name, metadata={"threshold": threshold})
    return RunResult(run, None, "", name)


def test_the_same_places_are_the_same_whatever_they_score() -> None:
    first = measured("a", ("x.py", "y.py"), ("z.py",))
    second = measured("b", ("x.py", "y.py"), ("z.py",), factor=9)
    turned = measured("c", ("y.py", "x.py"), ("z.py",))
    # A run without any hit is broken, which its scores say.
    nothing = measured("d", (), ())
    same = remarks([first, turned, second, nothing, nothing])
    assert same == ("2 configurations gave the same rankings: a; b",)


def test_the_order_of_answers_does_not_matter() -> None:
    first = measured("a", ("x.py",), ("z.py",))
    backwards = Run.of(reversed(list(first.run.answers())))
    assert len(remarks([first, RunResult(backwards, None, "", "b")])) == 1


def test_a_threshold_that_empties_more_than_half() -> None:
    half = measured("half", ("a",), (), threshold=0.5)
    most = measured("most", ("a",), (), (), threshold=0.5)
    without = measured("without", ("b",), (), ())
    assert remarks([half, most, without]) == (
        "most: threshold 0.5 leaves no hit to 2 of 3 queries",
    )


def test_a_run_without_hits_for_nearly_all_queries() -> None:
    nine = measured("nine", ("a",), *[()] * 9)
    eight = measured("eight", ("a",), ("b",), *[()] * 8)
    check = "karat engines check SPEC --corpus DIR --query TEXT shows why"
    assert remarks([nine, eight]) == (f"nine: no hits for 9 of 10 queries; {check}",)


def test_errors_are_not_emptied_by_a_threshold() -> None:
    answers = [Answer("q0", (Hit("a"),)), *(Answer(f"e{n}", (), Outcome.ERROR) for n in range(5))]
    run = Run.of(answers, metadata={"threshold": 0.5})
    assert remarks([RunResult(run, None, "", "a")]) == ()


@pytest.mark.parametrize(("match", "same"), [("akashic", 0), ("exact", 1), ("", 1)])
def test_symbols_tell_rankings_apart_where_they_are_matched(match: str, same: int) -> None:
    runs = [
        RunResult(
            Run.of([Answer("q", (Hit("a.py", symbol=symbol),))], metadata={"match": match}),
            None,
            "",
            symbol,
        )
        for symbol in ("login", "logout")
    ]
    assert len(remarks(runs)) == same


def test_lost_units_and_other_slots_are_told_once() -> None:
    notes = {"lost_units": 2, "differing_slots": ["kernels SSE42 instead of AVX2"]}
    first = replace(measured("a", ("x.py",)), notes=notes)
    second = replace(measured("b", ("y.py",)), notes={**notes, "lost_units": 3})
    assert remarks([first, second]) == (
        "3 units were lost with their slots; other slots ran the rest",
        "some slots have kernels SSE42 instead of AVX2; scores of embeddings may differ in the "
        "last digits",
    )
