"""Rewriting by a model: what is taken and what is refused."""

import pytest

from karat.errors import EngineError
from karat.extensions.mining.commits import Candidate, Change, Commit
from karat.extensions.mining.variants import (
    PROMPT,
    Rewriter,
    RewriteStatus,
    RewrittenQuery,
    check_rewrite,
)

GOOD = "visitors are logged out although their visit has not expired"
TARGET = Change("M", "src/cookies.py", "src/cookies.py", "a" * 40, "b" * 40, "100644", "100644")
MESSAGE = "Fixed #12 -- Kept the session of visitors\n\nSee src/cookies.py."
CANDIDATE = Candidate(
    Commit("c" * 40, ("p",), 1, "Ada", "a@b", MESSAGE, (TARGET,)),
    (TARGET,),
    (),
    "keep the session of visitors",
)


class Model:
    """Answers what it was given, and remembers what it was asked."""

    def __init__(self, *answers: str | EngineError) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str]] = []

    def __call__(self, instruction: str, text: str) -> str:
        self.asked.append((instruction, text))
        answer = self.answers.pop(0)
        if isinstance(answer, EngineError):
            raise answer
        return answer


def test_a_good_answer_is_taken() -> None:
    model = Model(f' "{GOOD}"\n')
    assert Rewriter(model).rewrite(CANDIDATE) == RewrittenQuery(GOOD, RewriteStatus.REWRITTEN)
    assert model.asked == [(PROMPT, MESSAGE)]


def test_a_failure_falls_back_to_the_rules() -> None:
    made = Rewriter(Model(EngineError("busy"), GOOD))
    assert made.rewrite(CANDIDATE) == RewrittenQuery(CANDIDATE.query, RewriteStatus.FAILED)
    assert made.rewrite(CANDIDATE).status is RewriteStatus.REWRITTEN


def test_a_refused_answer_falls_back() -> None:
    made = Rewriter(Model("where is cookies.py wrong about visitors"))
    assert made.rewrite(CANDIDATE) == RewrittenQuery(CANDIDATE.query, RewriteStatus.LEAKED)


@pytest.mark.parametrize(
    ("text", "status"),
    [
        (GOOD, RewriteStatus.REWRITTEN),
        ("fix it", RewriteStatus.TOO_SHORT),
        ("expired visitors logged " * 20, RewriteStatus.TOO_LONG),
        ("visitors are logged out by getSession after expiry", RewriteStatus.LEAKED),
        ("visitors are logged out, see src/cookies.py", RewriteStatus.LEAKED),
        ("the cookies of visitors expire too early", RewriteStatus.LEAKED),
    ],
)
def test_what_an_answer_must_be(text: str, status: RewriteStatus) -> None:
    assert check_rewrite(text, "keep the session of visitors", ["src/cookies.py"]) is status


def test_what_the_rules_gave_away_may_be_said() -> None:
    text = "the cookies of visitors expire too early"
    assert (
        check_rewrite(text, "keep cookies of visitors", ["src/cookies.py"])
        is RewriteStatus.REWRITTEN
    )
