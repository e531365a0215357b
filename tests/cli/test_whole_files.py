"""An engine that returns files without lines, on a gold set of lines."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]

GOLD = "query,path,start_line,end_line,grade\nlog in,b.py,1,2,1\n"
# Two functions of a.py before b.py: rank 2 by files, 3 by lines.
HITS = [{"path": "a.py", "symbol": "f"}, {"path": "a.py", "symbol": "g"}, {"path": "b.py"}]
COMMON = ("gold.csv", "--corpus", "shop", "--timed", "none", "-m", "mrr")


@pytest.fixture
def agent(folder: Path) -> str:
    shop = folder / "shop"
    shop.mkdir()
    for name in ("a.py", "b.py"):
        (shop / name).write_text("def log_in():\n    return 1\n")
    (folder / "gold.csv").write_text(GOLD)
    (folder / "agent.py").write_text(f"print({json.dumps(HITS)!r})\n")
    command = json.dumps([sys.executable, "{here}/agent.py"])
    (folder / "agent.yaml").write_text(f"name: agent\nengine: command\ncommand: {command}\n")
    return "agent.yaml"


def test_a_run_without_lines_is_judged_by_files(karat: Karat, agent: str) -> None:
    done = karat("evaluate", *COMMON, "-e", agent)
    assert done.stdout.startswith("agent has mrr 0.500 "), done.stderr
    assert "judged by files, because the run has no lines (--match lines" in done.stdout
    # The scores in the store are the same.
    assert "0.500" in karat("runs", "show", "latest").stdout
    by_lines = karat("evaluate", *COMMON, "-e", agent, "--match", "lines")
    assert by_lines.stdout.startswith("agent has mrr 0.333 ")
    assert "judged by files" not in by_lines.stdout


def test_a_comparison_and_its_report_judge_all_runs_alike(
    karat: Karat, agent: str, folder: Path
) -> None:
    done = karat("compare", *COMMON, "--agents", "bm25", agent, "-o", "report.md")
    line = "judged by files, because agent has no lines (--match lines judges by lines)"
    assert f"every run: {line}" in done.stdout, done.stderr
    assert f"| Matching | exact: {line} |" in (folder / "report.md").read_text()
    document = json.loads(karat("compare", *COMMON, "--agents", "bm25", agent, "--json").stdout)
    assert [run["notes"]["unit"] for run in document["runs"]] == [line, line]
