"""Hits that point into files, against a slow matcher over sets of line numbers."""

from collections import Counter
from collections.abc import Iterable
from itertools import pairwise, product
from math import isnan

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.model import Hit, JudgedQuery, Target
from karat.scoring.matching.modes import MATCHERS, lines, query_targets
from karat.scoring.matching.regions import judge_hits, order_hits, valid_hits
from karat.scoring.metrics import METRICS, parse

PATHS = st.sampled_from(["a.py", "b.py"])
RANGES = st.just((0, 0)) | st.tuples(st.integers(1, 7), st.integers(0, 3)).map(
    lambda span: (span[0], sum(span))
)
TARGETS = st.lists(
    st.builds(
        lambda path, span, grade: Target(path, grade, *span),
        PATHS,
        RANGES,
        st.sampled_from([-1.0, 0.0, 1.0, 2.0]),
    ),
    max_size=4,
)
HITS = st.lists(
    st.builds(
        lambda path, span, score, tokens: Hit(path, score, span[0], span[1], tokens=tokens),
        PATHS,
        RANGES,
        st.sampled_from([1.0, 2.0, 3.0]),
        st.integers(0, 9),
    ),
    max_size=6,
    unique_by=lambda hit: (hit.path, hit.start_line, hit.end_line),
)
WHOLE_FILE = range(1, 100)


def numbers(region: Hit | Target) -> set[tuple[str, int]]:
    """Return the lines of *region*; a whole file is longer than any range here."""
    span = range(region.start_line, region.end_line + 1) if region.end_line else WHOLE_FILE
    return {(region.path, line) for line in span}


def matches(hit: Hit, target: Target, share: float) -> bool:
    shared = len(numbers(hit) & numbers(target))
    if not hit.end_line or not target.end_line:
        return shared > 0
    return shared > 0 and shared / len(numbers(target)) >= share


@pytest.mark.parametrize("share", [0.0, 0.3, 0.5, 1.0])
def test_every_pair_of_short_ranges(share: float) -> None:
    spans = [(first, last) for first in range(1, 6) for last in range(first, 6)]
    credit = lines(share).credit
    for start, end in spans:
        for first, last in spans:
            hit, target = Hit("a", 1.0, start, end), Target("a", 1, first, last)
            assert credit(hit, target) == matches(hit, target, share), (hit, target)


def units(hits: list[Hit], targets: list[Target]) -> tuple[list[Hit], list[Target]]:
    """Return hits and targets as they are judged: a whole file is one of each."""
    relevant = [target for target in targets if target.grade > 0] or targets
    if not any(target.end_line for target in relevant):
        files = {"a.py", "b.py"}
    else:
        lined = {target.path for target in targets if target.end_line}
        files = {target.path for target in targets if target.grade > 0} - lined
    distinct: list[Hit] = []
    for hit in hits:
        if hit.path not in files or all(other.path != hit.path for other in distinct):
            distinct.append(hit)
    # A place that is listed twice is one target, of the higher grade.
    best: dict[tuple[str, int, int], Target] = {}
    for target in targets:
        region = target.path, target.start_line, target.end_line
        if target.path not in files and (region not in best or target.grade > best[region].grade):
            best[region] = target
    judged_targets = list(best.values())
    whole = files & {target.path for target in targets}
    judged_targets += [
        Target(path, max(t.grade for t in targets if t.path == path)) for path in whole
    ]
    return distinct, judged_targets


def slow_gains(hits: list[Hit], targets: list[Target], share: float) -> dict[int, float]:
    """Return what each rank earns: the best target still unpaid, by its position in the truth."""
    unpaid = list(targets)
    gains = {}
    for rank, hit in enumerate(hits, 1):
        if any(matches(hit, target, share) for target in targets):
            payers = [target for target in unpaid if matches(hit, target, share)]
            gains[rank] = max((target.grade for target in payers), default=0.0)
            if payers:
                unpaid.remove(max(payers, key=lambda target: target.grade))
    return gains


@settings(max_examples=50)
@given(hits=HITS, targets=TARGETS, share=st.sampled_from([0.0, 0.5, 1.0]))
@example(
    hits=[Hit("b.py", 2.0), Hit("b.py", 1.0, 1, 1)],
    targets=[Target("b.py", 1.0), Target("b.py", -1.0, 2, 2), Target("b.py", 1.0, 2, 2)],
    share=0.0,
)
def test_lines_agree_with_a_slow_matcher(
    hits: list[Hit], targets: list[Target], share: float
) -> None:
    hits = sorted(hits, key=lambda hit: (hit.score, f"{hit.path}:{hit.start_line}-"), reverse=True)
    hits = [hit._replace(score=float("nan")) for hit in hits]
    judged = judge_hits(hits, targets, lines(share))
    hits, targets = units(hits, targets)
    assert dict(zip(judged.ranks, judged.grades, strict=True)) == slow_gains(hits, targets, share)
    first = sorted(
        (min(rank for rank, hit in enumerate(hits, 1) if matches(hit, target, share)), target.grade)
        for target in targets
        if any(matches(hit, target, share) for hit in hits)
    )
    assert list(zip(judged.found_ranks, judged.found_grades, strict=True)) == first
    assert list(judged.ideal) == sorted((target.grade for target in targets), reverse=True)
    assert judged.retrieved == len(hits)
    assert not judged.tied


@settings(max_examples=50)
@given(hits=HITS, targets=TARGETS)
def test_no_target_pays_twice(hits: list[Hit], targets: list[Target]) -> None:
    judged = judge_hits(hits, targets, lines())
    paid = Counter(grade for grade in judged.grades if grade > 0)
    assert paid <= Counter(target.grade for target in targets if target.grade > 0)
    assert len(judged.found_ranks) <= len(targets)


@settings(max_examples=50)
@given(hits=HITS, targets=TARGETS)
def test_sizes_agree_with_sets_of_lines(hits: list[Hit], targets: list[Target]) -> None:
    hits = [hit._replace(score=-rank) for rank, hit in enumerate(hits)]
    sizes = judge_hits(hits, targets, lines()).sizes
    if sizes is None:
        assert not any(target.end_line for target in targets)
        return
    returned = hits
    hits, _ = units(hits, targets)
    # A further hit on a whole file is no unit, but a reader has read it before the next one.
    ends = [next(at for at, one in enumerate(returned, 1) if one is hit) for hit in hits]
    stretches = [returned[start:end] for start, end in pairwise([0, *ends])]
    relevant_lines = {
        line
        for target in targets
        if target.grade > 0 and target.end_line
        for line in numbers(target)
    }
    assert sizes.target_lines == len(relevant_lines)
    assert list(sizes.tokens) == [
        -1 if any(hit.tokens < 0 for hit in some) else sum(hit.tokens for hit in some)
        for some in stretches
    ]
    read: set[tuple[str, int]] = set()
    for index, hit in enumerate(hits):
        here = numbers(hit) if hit.end_line else set()
        expected = (len(here), len(here - read), len((here - read) & relevant_lines))
        row = (sizes.lines[index], sizes.new_lines[index], sizes.found_lines[index])
        assert row == (expected if hit.end_line else (-1, -1, -1))
        read |= here


MODES = st.sampled_from(["lines", "symbol", "akashic", "graded", "suffix", "directory"])


@settings(max_examples=50)
@given(hits=HITS, targets=TARGETS, mode=MODES)
def test_every_metric_stays_in_its_range(hits: list[Hit], targets: list[Target], mode: str) -> None:
    check_range(judge_hits(hits, targets, MATCHERS.get(mode)()), METRICS.core())


def check_range(judged: JudgedQuery, metrics: Iterable[str]) -> None:
    """Fail if one of *metrics*, cut at 1 or 3 where it can be, leaves its range."""
    for name, k in product(metrics, (1, 3)):
        measure = parse(name if METRICS.get(name).cut == "none" else f"{name}@{k}")
        score = measure.bind()(judged)
        metric = measure.definition
        assert isnan(score) or metric.low <= score <= metric.high, str(measure)


@settings(max_examples=50)
@given(hits=HITS, targets=TARGETS, mode=st.sampled_from(["lines", "graded", "directory"]))
def test_a_level_is_as_if_there_were_no_lower_targets(
    hits: list[Hit], targets: list[Target], mode: str
) -> None:
    matcher = MATCHERS.get(mode)()
    level = max(matcher.ceiling(target) for target in targets) * 2 if targets else 2.0
    high = [target for target in targets if target.grade == 2.0]
    units = [query_targets(each, matcher).files for each in (targets, high)]
    assume(units[0] == units[1])
    judged, alone = (judge_hits(hits, each, matcher) for each in (targets, high))
    for name in ("set-precision", "set-recall", "set-f1"):
        scores = (parse(f"{name}(level={level})").bind()(judged), parse(name).bind()(alone))
        assert scores[0] == pytest.approx(scores[1]), name


def test_a_hit_that_covers_two_targets_pays_the_higher_and_leaves_the_other_open() -> None:
    targets = [Target("a.py", 1, 1, 10), Target("a.py", 2, 11, 20)]
    both = Hit("a.py", 3, 5, 15)
    judged = judge_hits([both], targets, lines())
    assert (judged.ranks, judged.grades) == ([1], [2.0])
    assert parse("recall@1").bind()(judged) == 1.0
    again = judge_hits([both, Hit("a.py", 2, 1, 3)], targets, lines())
    assert (again.ranks, again.grades) == ([1, 2], [2.0, 1.0])
    assert parse("ndcg@10").bind()(again) == 1.0


def test_a_second_chunk_of_a_target_is_not_relevant() -> None:
    hits = [Hit("a.py", 3, 1, 5), Hit("a.py", 2, 6, 9), Hit("a.py", 1, 30, 40)]
    targets = [Target("a.py", 1, 1, 10), Target("a.py", 1, 30, 31)]
    judged = judge_hits(hits, targets, lines())
    assert (judged.ranks, judged.grades) == ([1, 2, 3], [1.0, 0.0, 1.0])
    assert parse("precision@3").bind()(judged) == pytest.approx(2 / 3)


def test_files_collapse_to_their_first_hit() -> None:
    hits = [Hit("x/a.py", 9, 1, 2), Hit("x/a.py", 8, 3, 4), Hit("x/b.py", 7), Hit("x/a.py", 6)]
    judged = judge_hits(hits, [Target("b.py"), Target("a.py")], MATCHERS.get("suffix")())
    assert (judged.ranks, judged.retrieved) == ([1, 2], 2)


def test_a_tie_that_collapses_away_is_none() -> None:
    hits = [Hit("x/a.py", 9), Hit("x/a.py", 5, 1, 2), Hit("x/b.py", 5)]
    truth, matcher = [Target("b.py")], MATCHERS.get("suffix")()
    assert not judge_hits(hits, truth, matcher).tied
    assert judge_hits(hits, truth, matcher, ties="expected").ranks == [2]


def test_judged_only_drops_what_matches_nothing_before_ties_are_looked_at() -> None:
    hits = [Hit("c.py", 5, 1, 2), Hit("a.py", 5, 1, 2), Hit("b.py", 1, 1, 2)]
    judged = judge_hits(hits, [Target("a.py"), Target("b.py")], lines(), judged_only=True)
    assert (judged.ranks, judged.retrieved, judged.tied) == ([1, 2], 2, False)


def test_judged_only_drops_a_hit_that_matches_only_a_grade_below_0() -> None:
    hits = [Hit("c.py", 9, 1, 2), Hit("a.py", 5, 1, 2), Hit("b.py", 1, 1, 2)]
    truth = [Target("a.py"), Target("b.py", 0), Target("c.py", -1)]
    judged = judge_hits(hits, truth, lines(), judged_only=True)
    assert (judged.ranks, judged.grades, judged.retrieved) == ([1, 2], [1, 0], 2)


def test_depth_cuts_before_judged_only_drops() -> None:
    hits = [Hit("c.py", 9, 1, 2), Hit("a.py", 5, 1, 2), Hit("b.py", 5, 1, 2)]
    truth = [Target("a.py"), Target("b.py")]
    judged = judge_hits(hits, truth, lines(), judged_only=True, depth=2)
    # b.py and a.py have one score; the tie rule puts b.py before the cut.
    assert (judged.ranks, judged.retrieved, judged.tied) == ([1], 1, True)
    assert judge_hits(hits, truth, lines(), judged_only=True, depth=1).retrieved == 0


def test_depth_forgets_what_stands_below() -> None:
    hits = [Hit("c.py"), Hit("a.py"), Hit("b.py")]
    judged = judge_hits(hits, [Target("a.py"), Target("b.py")], lines(), depth=2)
    assert (judged.ranks, judged.found_ranks, judged.retrieved) == ([2], [2], 2)


def test_a_level_counts_what_a_target_can_pay_on_both_sides_of_recall() -> None:
    hits = [Hit("src/a.py", 2, symbol="run"), Hit("src/b.py", 1)]
    targets = [Target("c.py", symbol="run"), Target("b.py")]
    judged = judge_hits(hits, targets, MATCHERS.get("graded")())
    assert (judged.ranks, judged.grades) == ([1, 2], [1.0, 0.7])
    assert parse("recall(level=1)").bind()(judged) == 1.0
    assert parse("recall(level=0.7)").bind()(judged) == 1.0


POLICIES = {
    "trec10": ["c", "b", "a", "d"],
    "trec9": ["c", "b", "a", "d"],
    "order": ["b", "a", "c", "d"],
    "best": ["a", "b", "c", "d"],
    "worst": ["c", "b", "a", "d"],
}


@pytest.mark.parametrize(("ties", "expected"), POLICIES.items())
def test_equal_scores_by_policy(ties: str, expected: list[str]) -> None:
    hits = [Hit("d", 1.0), Hit("b", 2.0), Hit("a", 2.0), Hit("c", 2.0)]
    worth = {"a": 2.0, "b": 1.0, "c": 0.0, "d": 3.0}
    best_first, scores = order_hits(hits, [worth[hit.path] for hit in hits], ties)
    assert [hit.path for hit in best_first] == expected
    assert all(score >= following for score, following in pairwise(scores))


def test_ids_of_which_one_begins_another_tie_as_in_trec_eval() -> None:
    hits = [Hit("d1", 3.0), Hit("d11", 3.0), Hit("d10", 3.0), Hit("d1", 3.0, 5, 9)]
    ordered = [(hit.path, hit.start_line) for hit in order_hits(hits, [0.0] * 4, "trec10")[0]]
    assert ordered == [("d11", 0), ("d10", 0), ("d1", 5), ("d1", 0)]


def test_float32_ties_more() -> None:
    hits = [Hit("a", 1.0 + 1e-12), Hit("b", 1.0)]
    assert [hit.path for hit in order_hits(hits, [0, 0], "trec10")[0]] == ["a", "b"]
    assert [hit.path for hit in order_hits(hits, [0, 0], "trec9")[0]] == ["b", "a"]


def test_hits_without_scores_keep_their_order_and_never_tie() -> None:
    hits = [Hit("b"), Hit("a"), Hit("c")]
    best_first, scores = order_hits(hits, [0, 1, 2], "best")
    assert best_first == hits
    assert len(set(scores)) == 3
    assert order_hits([], [], "best") == ([], [])


def test_a_tie_that_matters_has_no_expected_value() -> None:
    hits = [Hit("a.py", 1, 1, 2), Hit("b.py", 1, 1, 2)]
    assert judge_hits(hits, [Target("a.py")], lines()).tied
    with pytest.raises(InputError, match=r"mode .lines. has no expected value under ties"):
        judge_hits(hits, [Target("a.py")], lines(), ties="expected")
    same = [Hit("a.py", 1, 1, 2), Hit("a.py", 1, 3, 4)]
    assert not judge_hits(same, [Target("a.py")], lines(), ties="expected").tied


@pytest.mark.parametrize(
    ("hit", "reason"),
    [
        (Hit("", 1.0), "empty path"),
        (Hit("a", 1.0, 0, 5), "line below 1"),
        (Hit("a", 1.0, -1, 5), "line below 1"),
        (Hit("a", 1.0, 3, -1), "line below 1"),
        (Hit("a", 1.0, 5, 4), "end before start"),
        (Hit("a", 1.0, 5, 0), "end before start"),
        (Hit("a"), "non-finite score"),
        (Hit("a", float("inf")), "non-finite score"),
        (Hit("ok", 0.5), "duplicate"),
    ],
)
def test_each_invalid_hit_is_counted_by_its_reason(hit: Hit, reason: str) -> None:
    invalid: Counter[str] = Counter()
    good = Hit("ok", 1.0)
    assert valid_hits([good, hit], invalid) == [good]
    assert invalid == {reason: 1}


def test_hits_may_all_go_without_scores_and_symbols_without_paths() -> None:
    invalid: Counter[str] = Counter()
    hits = [Hit("a"), Hit("a", start_line=1, end_line=2), Hit("", symbol="run")]
    assert valid_hits(hits, invalid) == hits
    assert not invalid


def test_nothing_returned_and_nothing_wanted() -> None:
    judged = judge_hits([], [], lines())
    assert isinstance(judged, JudgedQuery)
    assert (judged.ranks, judged.ideal, judged.retrieved, judged.sizes) == ([], [], 0, None)
