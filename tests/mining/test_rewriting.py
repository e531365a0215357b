"""Rewriting by a model: what is kept, what is refused, and that a second run asks nothing."""

from pathlib import Path

import pytest

from karat.errors import EngineError
from karat.mining.commits import Candidate, Change, Commit
from karat.mining.rewriting import (
    PROMPT,
    Complete,
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


def rewriter(model: Complete, folder: Path, name: str = "m", prompt: str = PROMPT) -> Rewriter:
    return Rewriter(model, model=name, folder=folder / "kept", prompt=prompt)


def test_a_good_answer_is_taken_and_kept(tmp_path: Path) -> None:
    model = Model(f' "{GOOD}"\n')
    assert rewriter(model, tmp_path).rewrite(CANDIDATE) == RewrittenQuery(
        GOOD, RewriteStatus.REWRITTEN
    )
    assert model.asked == [(PROMPT, MESSAGE)]
    assert rewriter(model, tmp_path).rewrite(CANDIDATE) == RewrittenQuery(
        GOOD, RewriteStatus.REWRITTEN
    )
    assert len(model.asked) == 1


def test_another_model_or_prompt_is_asked_anew(tmp_path: Path) -> None:
    model = Model(GOOD, GOOD, GOOD)
    rewriter(model, tmp_path).rewrite(CANDIDATE)
    rewriter(model, tmp_path, name="other").rewrite(CANDIDATE)
    rewriter(model, tmp_path, prompt="Ask.").rewrite(CANDIDATE)
    assert len(model.asked) == 3


def test_a_failure_falls_back_to_the_rules_and_is_not_kept(tmp_path: Path) -> None:
    model = Model(EngineError("busy"), GOOD)
    made = rewriter(model, tmp_path)
    assert made.rewrite(CANDIDATE) == RewrittenQuery(CANDIDATE.query, RewriteStatus.FAILED)
    assert made.rewrite(CANDIDATE).status is RewriteStatus.REWRITTEN


def test_a_refused_answer_falls_back_and_is_kept(tmp_path: Path) -> None:
    model = Model("where is cookies.py wrong about visitors")
    made = rewriter(model, tmp_path)
    expected = RewrittenQuery(CANDIDATE.query, RewriteStatus.LEAKED)
    assert [made.rewrite(CANDIDATE), made.rewrite(CANDIDATE)] == [expected, expected]


@pytest.mark.parametrize("damage", [b"", b"\xff", b"[]", b'{"answer": 1}', b"{}"])
def test_a_kept_answer_that_cannot_be_read_is_asked_for_again(
    tmp_path: Path, damage: bytes
) -> None:
    model = Model(GOOD, GOOD)
    made = rewriter(model, tmp_path)
    made.rewrite(CANDIDATE)
    next((tmp_path / "kept").iterdir()).write_bytes(damage)
    assert made.rewrite(CANDIDATE).status is RewriteStatus.REWRITTEN
    assert len(model.asked) == 2


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
