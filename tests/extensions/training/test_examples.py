"""Hard negatives, near copies, contamination and splits, on texts made here."""

from collections import Counter
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.errors import InputError
from karat.extensions.training.examples import (
    COPY,
    CandidateText,
    NearCopies,
    NegativeRules,
    TrainingExample,
    TrainingText,
    choose_negatives,
    overlap,
    split_dataset,
    without_held_out,
)
from karat.model import Dataset, Query

POSITIVE = TrainingText("def login(user): return check(user)", "auth.py", 1, 1, 2.0, 3, 10.0)


def hit(text: str, *, rank: int, score: float = 1.0, path: str = "b.py") -> TrainingText:
    return TrainingText(text, path, 1, 3, rank=rank, score=score)


def words(number: int) -> str:
    """Return a text of its own."""
    return " ".join(f"word{number}{letter}" for letter in "abcdefgh")


def chosen(
    candidates: list[CandidateText], rules: NegativeRules, *positives: TrainingText
) -> tuple[list[int], Counter[str]]:
    dropped: Counter[str] = Counter()
    negatives = choose_negatives(candidates, positives or (POSITIVE,), rules, dropped)
    return [negative.rank for negative in negatives], dropped


def test_the_best_hits_that_no_rule_drops_are_taken() -> None:
    hits = [
        CandidateText(hit(words(1), rank=1, score=9.9)),
        CandidateText(hit(words(2), rank=2, score=9.5), grade=1.0),
        CandidateText(hit(words(3), rank=3, score=9.4), beside=True),
        CandidateText(hit(words(4), rank=4, score=9.3), foreign=True),
        CandidateText(hit("def login(user): return check(user) # same", rank=5, score=9.2)),
        CandidateText(hit("import os", rank=6, score=9.1)),
        CandidateText(hit(words(7), rank=7, score=9.0)),
        CandidateText(hit(words(7) + " again", rank=8, score=8.0)),
        CandidateText(hit(words(9), rank=9, score=7.0)),
        CandidateText(hit(words(10), rank=10, score=6.0)),
    ]
    ranks, dropped = chosen(hits, NegativeRules(count=2))
    assert ranks == [7, 9]
    assert dropped == {
        "scores too close to the positive": 1,
        "relevant": 1,
        "same file as a target": 1,
        "another language": 1,
        "copy of a positive": 1,
        "too short": 1,
        "copy of another negative": 1,
    }


def test_rules_can_be_turned_off() -> None:
    hits = [
        CandidateText(hit(words(1), rank=1, score=99.0)),
        CandidateText(hit(words(2), rank=2, score=9.0), beside=True),
        CandidateText(hit(words(3), rank=3, score=9.0), foreign=True),
    ]
    rules = NegativeRules(max_score_ratio=0, same_file=True, any_language=True)
    assert chosen(hits, rules) == ([1, 2, 3], Counter())


def test_skip_and_depth_count_ranks_of_the_engine() -> None:
    hits = [CandidateText(hit(words(rank), rank=rank)) for rank in range(1, 9)]
    assert chosen(hits, NegativeRules(count=9, skip=2, depth=5))[0] == [3, 4, 5]
    with pytest.raises(InputError, match="--skip 5 leaves no hits of --depth 5"):
        NegativeRules(skip=5, depth=5).check()


def test_a_hit_that_was_graded_0_is_a_negative_whatever_its_score_and_file() -> None:
    hits = [CandidateText(hit(words(1), rank=1, score=50.0), grade=0.0, beside=True)]
    assert chosen(hits, NegativeRules())[0] == [1]


@pytest.mark.parametrize(
    ("positive", "expected"), [(10.0, [2, 3]), (-1.0, [3]), (nan, [1, 2, 3])], ids=str
)
def test_the_limit_is_a_share_of_the_best_score(positive: float, expected: list[int]) -> None:
    """A share of a negative score would be a higher one: then the score itself is the limit."""
    scores = {1: 9.6, 2: 9.5, 3: -1.5}
    hits = [CandidateText(hit(words(rank), rank=rank, score=scores[rank])) for rank in scores]
    low = POSITIVE._replace(score=nan)
    assert chosen(hits, NegativeRules(), low, POSITIVE._replace(score=positive))[0] == expected


@given(st.lists(st.lists(st.sampled_from("abcdef"), max_size=12), max_size=6), st.data())
def test_near_copies_are_found_as_by_comparing_all(
    texts: list[list[str]], data: st.DataObject
) -> None:
    known = [" ".join(text) for text in texts]
    text = " ".join(data.draw(st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=12)))
    bags = [Counter(one.split()) for one in known]
    expected = any(overlap(Counter(text.split()), bag) >= COPY for bag in bags)
    assert (text in NearCopies(known)) is expected


def example(
    number: int, *, text: str = "", commit: str = "", positive: str = "", negative: str = ""
) -> TrainingExample:
    query = Query(
        f"q{number}", text or words(number), extra={"commit_hash": commit or f"c{number}"}
    )
    return TrainingExample(
        query,
        (hit(positive or words(100 + number), rank=1),),
        (hit(negative or words(200 + number), rank=2),),
    )


def test_what_is_shared_with_held_out_data_is_dropped_and_counted() -> None:
    held = [example(1), example(2)]
    train = [
        example(11, text=words(1).upper() + "!"),
        example(12, commit="c2"),
        example(13, positive=words(101) + "\n"),
        example(14, negative=words(102)),
        example(15),
    ]
    clean, shared = without_held_out(train, held)
    assert [one.query.id for one in clean] == ["q14", "q15"]
    assert [len(one.negatives) for one in clean] == [0, 1]
    assert shared.queries == {
        "same query": ("q11",),
        "same commit": ("q12",),
        "same target text": ("q13",),
    }
    assert (shared.negatives, sorted(shared.ids)) == (1, ["q11", "q12", "q13"])


def test_target_texts_that_are_not_exported_are_held_out_as_well() -> None:
    held = TrainingExample(
        Query("a", words(1)), (hit(words(2), rank=1),), (), (hit(words(3), rank=0),)
    )
    clean, shared = without_held_out([example(11, positive=words(3)), example(12)], [held])
    assert [one.query.id for one in clean] == ["q12"]
    assert shared.queries["same target text"] == ("q11",)


def test_queries_without_a_commit_do_not_share_one() -> None:
    plain = TrainingExample(Query("a", words(1)), (hit(words(2), rank=1),))
    other = TrainingExample(Query("b", words(3)), (hit(words(4), rank=1),))
    assert without_held_out([plain], [other])[0] == [plain]


def gold(count: int, repositories: tuple[str, ...] = ("",)) -> Dataset:
    return Dataset.of(
        [
            Query(
                f"q{number}",
                words(number),
                tags={"repository": repositories[number % len(repositories)]},
                extra={"timestamp": f"2024-01-{number + 1:02}"},
            )
            for number in range(count)
        ],
        name="set",
    )


def test_a_split_by_time_has_the_newest_queries_last() -> None:
    parts = split_dataset(gold(10), ("train", "dev"), by="time", held_out=0.2)
    assert parts == {"train": tuple(f"q{n}" for n in range(8)), "dev": ("q8", "q9")}
    parts = split_dataset(gold(10), ("train", "dev", "test"), by="time", held_out=0.4)
    assert parts["dev"] == ("q6", "q7")
    assert parts["test"] == ("q8", "q9")


def test_a_split_by_repository_keeps_every_repository_together() -> None:
    data = gold(20, ("a", "a", "a", "a", "a", "a", "b", "b", "c", "d"))
    parts = split_dataset(data, ("train", "dev", "test"), by="repository", held_out=0.4)
    of_query = dict(zip(data.query_ids, data.tags["repository"], strict=True))
    names = [{of_query[query_id] for query_id in ids} for ids in parts.values()]
    assert names == [{"a"}, {"b"}, {"c", "d"}]
    assert sum(map(len, parts.values())) == 20


def test_no_part_stays_empty() -> None:
    data = gold(12, ("a", "b", "c"))
    parts = split_dataset(data, ("train", "dev", "test"), by="repository", held_out=0.01)
    assert [len(ids) for ids in parts.values()] == [4, 4, 4]


@pytest.mark.parametrize(
    ("names", "by", "message"),
    [
        (("train",), "time", "--split train: expected two or three different names"),
        (("train", "train"), "time", "--split train,train: expected two or three"),
        (("train", "dev"), "repository", "1 repository for 2 parts"),
    ],
)
def test_a_split_that_cannot_be_made(names: tuple[str, ...], by: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        split_dataset(gold(4), names, by=by, held_out=0.5)


def test_a_split_by_time_needs_times() -> None:
    data = Dataset.of([Query("q", "log in")])
    with pytest.raises(InputError, match="query 'q' has no timestamp and cannot be split by time"):
        split_dataset(data, ("train", "dev"), by="time", held_out=0.5)
