"""Commands read each run back from the store once, and score it once."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from tests.counting import count_calls

Karat = Callable[..., CompletedProcess[str]]

NAMES = ("login", "logout", "reset", "send")
MATRIX = "search_modes: [sparse]\ntop_k_values: [1, 2, 3, 4]\nscore_thresholds: [null, 0.5]\n"
COMPARE = ("compare", "names.csv", "--agents", "bm25", "keyword")
SWEEP = ("sweep", "names.csv", "--matrix", "matrix.yaml")
QUICK = ("--corpus", "project", "--draws", "99", "--repetitions", "1", "--workers", "1")


@pytest.fixture
def project(folder: Path) -> None:
    """Write four files, a gold set and a matrix."""
    (folder / "project").mkdir()
    for name in NAMES:
        (folder / "project" / f"{name}.py").write_text(f"def {name}(): ...\n", encoding="utf-8")
    rows = "".join(f"where is {name},{name}.py:1-1:1\n" for name in NAMES)
    (folder / "names.csv").write_text(f"query,result1\n{rows}", encoding="utf-8")
    (folder / "matrix.yaml").write_text(MATRIX, encoding="utf-8")


@pytest.mark.parametrize(
    ("command", "runs"),
    [
        ((*COMPARE, "--timed", "2"), 2),
        ((*COMPARE, "--timed", "none", "-o", "report.html"), 2),
        ((*COMPARE, "--timed", "none", "-o", "results/"), 2),
        ((*SWEEP, "--timed", "none"), 8),
        ((*SWEEP, "--timed", "1", "-o", "report.json"), 8),
    ],
)
def test_each_run_is_read_once_and_scored_once(
    karat: Karat,
    project: None,
    monkeypatch: pytest.MonkeyPatch,
    command: tuple[str, ...],
    runs: int,
) -> None:
    # The second command finds all runs in the store, and has as much to read and to score.
    for option in ((), ("--kept",)):
        with monkeypatch.context() as patched:
            counts = count_calls(patched)
            done = karat(*command, *QUICK, *option)
        assert done.returncode == 0, done.stderr
        judged = {name: times for name, times in counts.items() if name.startswith("judged ")}
        assert len(judged) == runs
        assert set(judged.values()) == {1}
        assert counts["read"] == runs * len(NAMES)
        assert counts["share"] == 1
        # To plan it, and to say what selects an engine.
        assert counts["units"] <= 2
