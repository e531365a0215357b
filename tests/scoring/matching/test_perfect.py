"""The best answer scores 1 in every matching mode, and no answer scores more."""

from collections.abc import Iterable, Sequence
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.model import Answer, Dataset, Hit, JudgedQuery, JudgedRun, Query, Run, Target
from karat.scoring.matching import MATCHERS, judge
from karat.scoring.metrics import METRICS, evaluate, parse

MEASURES = [parse(name) for name in ("ndcg", "ndcg(gain=exp)", "ap", "recall", "set-f1")]

PATHS = ("src/a.py", "src/b.py", "lib/src/a.py")
SYMBOLS = ("login", "login_user", "Save")
RANGES = ((0, 0), (1, 10), (3, 5), (8, 20))
GRADES = st.sampled_from([1.0, 2.0, 3.0])

FILES = st.tuples(st.sampled_from(PATHS), GRADES).map(lambda pair: Target(*pair))
NAMED = st.builds(
    lambda path, symbol: Target(path, symbol=symbol),
    st.sampled_from(PATHS),
    st.sampled_from(SYMBOLS),
)
NAMES = st.builds(lambda symbol: Target("", symbol=symbol), st.sampled_from(SYMBOLS))
LINES = st.builds(
    lambda path, span, grade: Target(path, grade, *span),
    st.sampled_from(PATHS),
    st.sampled_from(RANGES),
    GRADES,
)
TARGETS = {
    "document": FILES | LINES,
    "exact": FILES | LINES,
    "suffix": FILES | LINES,
    "substring": FILES | LINES,
    "directory": FILES | LINES,
    "lines": FILES | LINES,
    "symbol": FILES | NAMED | NAMES,
    # As the format has them: files, and names without a file.
    "akashic": FILES | NAMES,
    "graded": FILES | NAMES,
}


def universe(match: str) -> list[Hit]:
    """Return hits of every kind that *match* tells apart."""
    if match in ("symbol", "akashic", "graded"):
        names = ["", *SYMBOLS, "login_users", "resave"]
        return [Hit(path, symbol=symbol) for path, symbol in product([*PATHS, "z.py"], names)]
    if match == "lines":
        spans = [(0, 0), (1, 2), (3, 5), (4, 4), (9, 9), (1, 10), (12, 14), (30, 31)]
        return [Hit(path, start_line=a, end_line=b) for path, (a, b) in product(PATHS, spans)]
    return [Hit(path) for path in (*PATHS, *(f"x/{path}" for path in PATHS), "a.py", "src", "z.py")]


def judged_answers(targets: list[Target], match: str, answers: list[list[Hit]]) -> JudgedRun:
    """Return what several answers to one query earn, as queries of one run."""
    queries = [Query(str(row), "", tuple(targets)) for row in range(len(answers))]
    run = Run.of([Answer(str(row), tuple(hits)) for row, hits in enumerate(answers)])
    return judge(Dataset.of(queries, match=match), run)


def best_answer(targets: list[Target], match: str) -> list[Hit]:
    """Return hits that take, one after the other, the most that is left to earn."""
    hits: list[Hit] = []
    for _ in judged_answers(targets, match, [[]]).queries[0].ideal:
        left = [hit for hit in universe(match) if hit not in hits]
        after = judged_answers(targets, match, [[*hits, hit] for hit in left]).queries

        def value(row: int, after: Sequence[JudgedQuery] = after) -> tuple[float, int]:
            # Of equal ones the hit that covers nothing else leaves most for the next.
            return sum(after[row].grades), -len(after[row].found_ranks)

        hits.append(left[max(range(len(left)), key=value)])
    return hits


@pytest.mark.parametrize("match", list(MATCHERS))
@settings(max_examples=20)
@given(data=st.data())
def test_the_best_answer_scores_1(match: str, data: st.DataObject) -> None:
    targets = data.draw(st.lists(TARGETS[match], min_size=1, max_size=4))
    best = judged_answers(targets, match, [best_answer(targets, match)])
    table = evaluate(best, MEASURES)
    scores = {name: column[0] for name, column in table.columns.items()}
    assert scores == pytest.approx(dict.fromkeys(scores, 1.0))


@pytest.mark.parametrize("match", list(MATCHERS))
@settings(max_examples=25)
@given(data=st.data())
def test_no_answer_leaves_the_range_of_a_measure(match: str, data: st.DataObject) -> None:
    check_range(match, data, METRICS.core())


def check_range(match: str, data: st.DataObject, metrics: Iterable[str]) -> None:
    """Fail if an answer scores below 0 or above 1 in those *metrics* that are shares."""
    shares = [
        parse(name if METRICS.get(name).cut == "none" else f"{name}@3")
        for name in metrics
        if METRICS.get(name).high == 1.0
    ]
    targets = data.draw(st.lists(TARGETS[match], min_size=1, max_size=5))
    hits = data.draw(st.lists(st.sampled_from(universe(match)), max_size=6, unique=True))
    level = data.draw(st.sampled_from(["", "(level=0.4)", "(level=1)", "(level=1.4)", "(level=2)"]))
    names = [f"{name}{level}" for name in ("ap", "recall", "set-f1", "mrr")]
    table = evaluate(judged_answers(targets, match, [hits]), [*shares, *map(parse, names)])
    for name, column in table.columns.items():
        assert not column[0] > 1.0 + 1e-12, name
        assert not column[0] < 0.0, name


@pytest.mark.parametrize("match", list(MATCHERS))
@settings(max_examples=25)
@given(data=st.data())
def test_what_a_rank_earns_depends_only_on_the_hits_above_it(
    match: str, data: st.DataObject
) -> None:
    targets = data.draw(st.lists(TARGETS[match], min_size=1, max_size=4))
    hits = data.draw(st.lists(st.sampled_from(universe(match)), max_size=6, unique=True))
    cuts = [hits[:cut] for cut in range(len(hits) + 1)]
    parts = judged_answers(targets, match, cuts).queries
    whole = parts[-1]
    for cut in range(len(hits)):
        part = parts[cut]
        size = len(part.ranks)
        assert (part.ranks, part.grades) == (whole.ranks[:size], whole.grades[:size])
        assert list(part.found_ranks) == [r for r in whole.found_ranks if r <= part.retrieved]
