"""A table of scores in the current folder."""

from pathlib import Path

import pytest

from tests.command_line import folder, karat

__all__ = ["folder", "karat", "scores"]

LINES = ["question,model,passed,cost,level"]
LINES += [
    f"q{n},{model},{int((n * 3) % 10 < limit)},{0.5 + n / 10},{'easy' if n % 2 else 'hard'}"
    for n in range(20)
    for model, limit in (("old", 4), ("new", 8))
]


@pytest.fixture
def scores(folder: Path) -> str:
    """Return the name of a table with two models on twenty questions; *new* passes 16, *old* 8."""
    (folder / "scores.csv").write_text("\n".join(LINES))
    return "scores.csv"
