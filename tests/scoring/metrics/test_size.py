"""How much an answer makes its reader read, by hand; unknown sizes are NaN, never 0."""

from math import isnan

import pytest

from karat.model import Hit, JudgedQuery, Target
from karat.scoring.matching.modes import lines
from karat.scoring.matching.regions import judge_hits
from karat.scoring.metrics import parse

HITS = [
    Hit("b.py", 4, 1, 10, tokens=100),
    Hit("a.py", 3, 1, 20, tokens=200),
    Hit("a.py", 2, 11, 30, tokens=150),
    Hit("c.py", 1, 5, 5, tokens=7),
]
# Ten relevant lines in a.py, of which two hits hold the same; three in c.py, of which one is found.
TARGETS = [Target("a.py", 2, 16, 25), Target("c.py", 1, 4, 6), Target("b.py", 0, 1, 5)]
JUDGED = judge_hits(HITS, TARGETS, lines())


def score(measure: str, query: JudgedQuery = JUDGED) -> float:
    return parse(measure).bind()(query)


@pytest.mark.parametrize(
    ("measure", "expected"),
    [
        ("lines@1", 10),
        ("lines@3", 50),
        ("lines@9", 51),
        ("tokens@2", 300),
        ("tokens@9", 457),
        ("line-precision@1", 0),
        ("line-precision@2", 5 / 30),
        ("line-precision@3", 10 / 40),
        ("line-precision@4", 11 / 41),
        ("line-iou@1", 0),
        ("line-iou@2", 5 / (30 + 13 - 5)),
        ("line-iou@4", 11 / (41 + 13 - 11)),
        ("tokens-to-hit", 300),
        ("tokens-to-hit(level=1)", 300),
        ("token-recall@299", 0),
        ("token-recall@300", 1 / 2),
        ("token-recall@456", 1 / 2),
        ("token-recall@457", 1),
        ("token-recall@9999", 1),
        ("token-recall(level=2)@300", 1),
    ],
)
def test_by_hand(measure: str, expected: float) -> None:
    assert score(measure) == pytest.approx(expected)


SIZED = ("lines@5", "tokens@5", "line-precision@5", "line-iou@5", "tokens-to-hit", "token-recall@5")


@pytest.mark.parametrize("measure", SIZED)
def test_documents_have_no_size(measure: str) -> None:
    assert isnan(score(measure, JudgedQuery([1], [1], ideal=[1], retrieved=1)))


@pytest.mark.parametrize("measure", SIZED)
def test_a_whole_file_without_tokens_has_no_known_size(measure: str) -> None:
    assert isnan(score(measure, judge_hits([Hit("a.py", 1)], TARGETS, lines())))


def test_what_is_unknown_below_the_cut_does_not_count() -> None:
    query = judge_hits([HITS[1], Hit("d.py", 1)], TARGETS, lines())
    assert score("lines@1", query) == 20
    assert score("tokens@1", query) == 200
    assert score("token-recall@100", query) == 0
    assert isnan(score("lines@2", query))


def test_nothing_returned_is_nothing_read() -> None:
    query = judge_hits([], TARGETS, lines())
    assert [score(measure, query) for measure in SIZED[:4]] == [0, 0, 0, 0]
    assert isnan(score("tokens-to-hit", query))
    assert score("token-recall@5", query) == 0


def test_nothing_wanted_and_nothing_returned() -> None:
    query = judge_hits([], [Target("a.py", 0, 1, 5)], lines())
    assert score("line-iou@5", query) == 0
    assert isnan(score("token-recall@5", query))
