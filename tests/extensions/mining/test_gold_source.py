"""The settings of mining in a YAML file."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.errors import FormatError, InputError
from karat.extensions.mining.gold_source import read_mining_config


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "benchmark.yaml"


def test_every_sort_of_value(config: Path, tmp_path: Path) -> None:
    config.write_text(
        """
dataset:
  repository_path: [../one, /two]
  exclude_patterns: "*.md"
  off: [docs-only]
  min_files: 2
  include_merge_commits: yes
  adversarial: false
  since: 2024-01-31
  until:
"""
    )
    assert read_mining_config(config) == {
        "repositories": [f"{tmp_path}/../one", "/two"],
        "exclude": ["*.md"],
        "off": ["docs-only"],
        "min_files": "2",
        "include_merges": True,
        "adversarial": False,
        "since": "2024-01-31",
    }


@pytest.mark.parametrize("text", ["dataset:\n", "evaluation:\n  num_runs: 3\n"])
def test_nothing_about_mining(config: Path, text: str) -> None:
    config.write_text(text)
    assert read_mining_config(config) == {}


def test_every_problem_at_once(config: Path) -> None:
    config.write_text(
        "dataset:\n  min_file: 2\n  include_merge_commits: perhaps\n  off: [{}]\ndatasets: 1\n"
    )
    with pytest.raises(FormatError) as caught:
        read_mining_config(config)
    keys = (
        "valid keys: gold_set, repository_path, exclude_patterns, off, include_merge_commits, "
        "adversarial, cache, min_files, max_files, max_commits, limit, seed, test_share, unit, "
        "since, until, branch, level, hardness, rewrite, split, from, corpus, mask, model, hard, "
        "max_cost, price, workers"
    )
    sections = (
        "plugins, dataset, corpus, engines, agents, evaluation, metrics, matrix, suites, gate, "
        "output"
    )
    assert str(caught.value).splitlines() == [
        f"{config}:2: dataset.min_file: unknown key; did you mean 'min_files'? {keys}",
        f"{config}:3: dataset.include_merge_commits: 'perhaps' is neither true nor false",
        f"{config}:4: dataset.off[0]: expected text, found an object",
        f"{config}:5: datasets: unknown key; did you mean 'dataset'? valid keys: {sections}",
    ]


def test_what_an_option_does_not_take_is_among_them(config: Path) -> None:
    config.write_text("dataset:\n  min_files: x\n  max_file: 2\n  limit: [1]\n  off: [a, b]\n")

    def accept(name: str, value: object) -> None:
        raise InputError(f"{name} is not {value}")

    with pytest.raises(FormatError) as caught:
        read_mining_config(config, accepts=accept)
    messages = [problem.message.partition(" valid keys")[0] for problem in caught.value.problems]
    assert messages == [
        "dataset.min_files: min_files is not x",
        "dataset.max_file: unknown key; did you mean 'max_files'?",
        "dataset.max_file: max_file is not 2",
        "dataset.limit: expected text, found a list",
        "dataset.off: off is not ['a', 'b']",
    ]


@pytest.mark.parametrize(
    "command",
    [("compare", "--config", "bad.yaml"), ("generate", "--config", "bad.yaml", "-o", "new.json")],
)
def test_a_command_tells_all_faults_of_its_file(
    karat: Callable[..., CompletedProcess[str]], folder: Path, command: tuple[str, ...]
) -> None:
    (folder / "bad.yaml").write_text(
        "dataset:\n  repository_path: .\n  min_files: few\n  max_files: 0\n  level: word\n"
    )
    done = karat(*command)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        "error: bad.yaml:3: dataset.min_files: 'few' is not a valid whole number.",
        "bad.yaml:4: dataset.max_files: 0 is not in the range x>=1.",
        "bad.yaml:5: dataset.level: 'word' is not one of 'file', 'line', 'symbol'.",
    ]
    assert not (folder / "new.json").exists()
