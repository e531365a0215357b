import subprocess
import sys
from pathlib import Path


def test_the_example_runs_and_finds_the_better_search(project_root: Path) -> None:
    example = project_root / "examples" / "ndcg.py"
    done = subprocess.run(
        [sys.executable, "-W", "error", example], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "improved is better than baseline: ndcg@10 +0." in done.stdout
    assert "Last 10 of 30: ndcg@10 0." in done.stdout
    assert "half 0, ties" in done.stdout
