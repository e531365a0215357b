"""Watching: files that change, the pause after it, and what moved between two rounds."""

from array import array
from dataclasses import replace
from datetime import UTC, datetime
from math import nan
from pathlib import Path

from karat.extensions.watch import rounds as watch
from karat.extensions.watch.rounds import WatchRound, file_state, round_lines, wait_for_change
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.change import Earlier, RunChange
from karat.scoring.compare import compare_scored, compare_tables
from karat.scoring.score import evaluate_run
from karat.scoring.settings import Confidence, Scoring

START = datetime(2026, 1, 1, tzinfo=UTC)


def test_files_that_are_added_removed_or_changed(tmp_path: Path) -> None:
    for name in ("a.md", "b.md", ".git/index", "sub/node_modules/x.js", "sub/c.md"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("one")
    places = [str(tmp_path), str(tmp_path / "missing.yaml")]
    before = file_state(places)
    names = {Path(path).relative_to(tmp_path).as_posix() for path in before}
    assert names == {"a.md", "b.md", "sub/c.md"}
    (tmp_path / "a.md").unlink()
    (tmp_path / "sub" / "c.md").write_text("other")
    (tmp_path / "missing.yaml").write_text("engine: bm25")
    changed = watch.changed_paths(before, file_state(places))
    assert [Path(path).name for path in changed] == ["a.md", "missing.yaml", "c.md"]


def test_many_changes_are_one() -> None:
    last = {"a": (3, 1), "b": (4, 1)}
    states = iter([{"a": (1, 1)}, {"a": (1, 1)}, {"a": (2, 1)}, {"a": (3, 1)}, last, last])
    slept: list[float] = []
    state, changed = wait_for_change(
        {"a": (1, 1)}, lambda: next(states), slept.append, interval_s=0.5
    )
    assert changed == ["a", "b"]
    assert state == last
    assert slept == [0.5] * 5
    assert next(states, None) is None, "it looked once after the last change"


def test_a_change_during_the_run_is_seen_at_once() -> None:
    _, changed = wait_for_change({}, lambda: {"a": (1, 1)}, lambda _s: None, interval_s=1)
    assert changed == ["a"]


GOLD = Dataset.of([Query(f"q{n}", f"query {n}", (Target(f"{n}.py"),)) for n in range(12)])


def round_of(gold: Dataset, **ranks_of: list[int]) -> WatchRound:
    """Return a round in which each engine ranked the target of each query at a rank; 0: missed."""
    scoring = Scoring(measures=("mrr@10",))
    evaluations = []
    for name, ranks in ranks_of.items():
        answers = []
        for query, rank in zip(gold.queries(), ranks, strict=False):
            paths = [f"x{number}" for number in range(1, rank)]
            paths += [query.targets[0].path] if rank else []
            hits = [Hit(path, 10.0 - number) for number, path in enumerate(paths)]
            answers.append(Answer(query.id, tuple(hits)))
        run = Run.of(answers, name=name)
        evaluations.append(
            evaluate_run(gold, run, scoring=scoring, confidence=Confidence(), slices={}, name=name)
        )
    comparison = (
        compare_scored(evaluations, scoring.parsed(gold), Confidence(), clusters=None).comparison
        if len(evaluations) > 1
        else None
    )
    return WatchRound(gold, tuple(evaluations), "mrr@10", comparison)


def test_the_first_round_has_no_change() -> None:
    lines = round_lines(None, round_of(GOLD, one=[1] * 12))
    assert lines == ["  one  mrr@10 1.000"]


def test_an_engine_that_fails_is_named_and_compared_with_its_last_good_round() -> None:
    good = round_of(GOLD, one=[1] * 12, mine=[2] * 12)
    broken = replace(round_of(GOLD, one=[1] * 12), failed={"mine": "exit code 1: SyntaxError"})
    lines = round_lines(good, broken)
    assert lines[:2] == [
        "  mine  failed: exit code 1: SyntaxError",
        "  one   mrr@10 1.000  unchanged",
    ]
    still = replace(broken, gold=GOLD).after(broken.after(good))
    repaired = round_of(GOLD, one=[1] * 12, mine=[1] * 12)
    assert "  mine  mrr@10 1.000  +0.500 (p < 0.001, significant): 12 better" in "\n".join(
        round_lines(still, repaired)
    )


def test_what_moved() -> None:
    before = round_of(GOLD, one=[1] * 12, two=[1, 2, 2, *[1] * 9])
    after = round_of(GOLD, one=[1] * 12, two=[2, 1, 1, *[1] * 9])
    lines = round_lines(before, after)
    assert lines[0].startswith("No significant difference between one and two")
    assert lines[1] == "  one  mrr@10 1.000  unchanged"
    assert lines[2] == (
        "  two  mrr@10 0.958  +0.042 (p = 1.000, not significant): 2 better, 1 worse, 9 same"
    )
    assert lines[3:] == [
        "    - 1.00 -> 0.50  query 0",
        "    + 0.50 -> 1.00  query 2",
        "    + 0.50 -> 1.00  query 1",
    ]
    assert round_lines(after, after)[0].startswith("Verdict unchanged: No significant")


def test_many_moved_queries_are_counted() -> None:
    lines = round_lines(round_of(GOLD, one=[2] * 12), round_of(GOLD, one=[1] * 12))
    assert "+0.500 (p < 0.001, significant): 12 better, 0 worse, 0 same" in lines[0]
    assert len(lines) == 1 + watch.MOST_MOVED + 1
    assert lines[-1] == "      and 7 more"


def test_only_common_queries_and_engines_are_compared() -> None:
    fewer = Dataset.of(list(GOLD.queries())[:4])
    before = round_of(fewer, one=[1, 1, 1, 2])
    [one, new] = watch.engine_changes(before, round_of(GOLD, one=[1] * 12, new=[1] * 12))
    assert (one.queries, len(one.moved), new.difference) == (4, 1, None)
    other = Dataset.of([Query("z", "other", (Target("z.py"),))])
    [one] = watch.engine_changes(before, round_of(other, one=[1]))
    assert one.difference is None


def test_queries_without_a_score_are_left_out() -> None:
    after = round_of(GOLD, one=[1] * 12)
    table = after.evaluations[0].table
    table.columns["mrr@10"][0] = nan
    assert isinstance(table.columns["mrr@10"], array)
    [one] = watch.engine_changes(round_of(GOLD, one=[1] * 12), after)
    assert one.queries == 11


def test_a_new_case_is_not_among_the_unchanged() -> None:
    fewer = Dataset.of(list(GOLD.queries())[:11])
    before = round_of(fewer, one=[1] * 11)
    after = round_of(GOLD, one=[*[1] * 11, 0])
    assert round_lines(before, after)[0] == "  one  mrr@10 0.917  unchanged on 11 common cases"


def test_earlier_runs_are_named_once_and_a_pinned_one_always() -> None:
    first = round_of(GOLD, one=[2] * 12)
    tables = [round_of(GOLD, one=[rank] * 12).evaluations[0].table for rank in (2, 1)]
    measures = Scoring(measures=("mrr@10",)).parsed(GOLD)
    tables[0] = replace(tables[0], name="before")
    comparison = compare_tables(tables, measures, range(12), Confidence(), clusters=None)
    changes = tuple(
        RunChange("one", against, "k3nq.1", START, 12, (), comparison) for against in Earlier
    )
    after = replace(round_of(GOLD, one=[1] * 12), changes=changes)
    previous = "one is better than its previous run: mrr@10 +0.500"
    pinned = "one is better than the pinned run: mrr@10 +0.500"
    _, one, other = round_lines(None, after)
    assert (one.startswith(previous), other.startswith(pinned)) == (True, True)
    later = [line for line in round_lines(first, after) if line.startswith("one is better")]
    assert [line.startswith(pinned) for line in later] == [True]
