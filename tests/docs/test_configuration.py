"""The page on the configuration file: its example runs, and it names every key."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest

from karat.app.benchmark_config import (
    AGENT_KEYS,
    CORPUS_KEYS,
    EVALUATION_KEYS,
    GATE_KEYS,
    OUTPUT_KEYS,
)
from karat.app.gold_sources import GOLD_SET
from karat.cli import main
from karat.experiments.matrix_file import AXES, ENGINES_KEY, SINGLE
from karat.experiments.suites import KEYS as SUITE_KEYS
from karat.extensions.mining.demo import build_repository
from karat.extensions.mining.gold_source import KEYS as MINING_KEYS
from karat.formats.fields import SECTIONS
from tests.docs.pages import page

ROOT = Path(__file__).resolve().parents[2]
PAGE = page("configuration").read_text(encoding="utf-8")


def _block(language: str) -> str:
    found = re.search(rf"^```{language}\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert found
    return found[1]


@pytest.mark.parametrize(
    ("section", "keys"),
    [
        ("dataset", (GOLD_SET, *MINING_KEYS)),
        ("corpus", CORPUS_KEYS),
        ("engines", AGENT_KEYS),
        ("evaluation", EVALUATION_KEYS),
        ("matrix", (*AXES, *SINGLE, ENGINES_KEY)),
        ("suites", SUITE_KEYS),
        ("gate", GATE_KEYS),
        ("output", OUTPUT_KEYS),
    ],
)
def test_every_key_is_named(section: str, keys: tuple[str, ...]) -> None:
    (row,) = (line for line in PAGE.splitlines() if line.startswith(f"| `{section}` |"))
    assert {key for key in keys if f"`{key}`" not in row} == set()


def test_every_section_is_named() -> None:
    assert {section for section in SECTIONS if f"`{section}`" not in PAGE} == set()


def test_the_example_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tree = tmp_path / "project"
    source = build_repository(tmp_path)
    subprocess.run(["git", "clone", "--quiet", source, tree], check=True)
    monkeypatch.chdir(tree)
    (tree / "karat.yaml").write_text(_block("yaml karat.yaml"), encoding="utf-8")
    for line in _block("sh").splitlines():
        words = shlex.split(line)[1:]
        # Whether they run is the question, not how fast.
        quick = ["--timed", "none"] if words[0] in ("compare", "evaluate", "sweep") else []
        with pytest.raises(SystemExit) as caught:
            main([*words, *quick])
        assert not caught.value.code, f"{line}\n{capsys.readouterr().err}"
    assert (tree / "results" / "report.html").exists()
