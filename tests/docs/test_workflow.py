"""The GitHub workflow that users copy is YAML, and its commands run in its order."""

import json
import re
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path
from string import Template
from typing import Any

import pytest
import yaml
from packaging.requirements import Requirement

from karat.cli import main
from karat.installation import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[2]
WORKFLOW = ROOT / "examples" / "github-workflow" / "search-quality.yml"
STEPS = ("name", "if", "env", "run", "uses", "with")


@pytest.fixture
def workflow() -> Mapping[Any, Any]:
    found = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))
    assert isinstance(found, dict)
    return found


def test_the_workflow_has_the_structure_that_github_reads(workflow: Mapping[Any, Any]) -> None:
    # YAML 1.1 takes the key `on` for true.
    assert workflow.keys() == {"name", True, "permissions", "jobs"}
    assert workflow[True] == {"pull_request": None}
    assert workflow["permissions"] == {"contents": "read", "pull-requests": "write"}
    for job in workflow["jobs"].values():
        assert job["runs-on"]
        for step in job["steps"]:
            assert ("run" in step) != ("uses" in step)
            assert set(step) <= set(STEPS)


def test_nothing_of_a_pull_request_is_pasted_into_a_script(workflow: Mapping[Any, Any]) -> None:
    for step in workflow["jobs"]["gate"]["steps"]:
        assert "${{" not in step.get("run", "")


def test_karat_is_installed_from_a_pinned_commit(workflow: Mapping[Any, Any]) -> None:
    """By its name alone, pip would install whatever the package index has under that name."""
    (step,) = [
        step
        for step in workflow["jobs"]["gate"]["steps"]
        if step.get("run", "").startswith("pip install")
    ]
    filled = Template(step["run"]).substitute(step["env"])
    pip, install, *wanted = shlex.split(filled)
    assert (pip, install) == ("pip", "install")
    (requirement,) = map(Requirement, wanted)
    assert requirement.name == DISTRIBUTION
    assert re.fullmatch(r"git\+https://\S+@[0-9a-f]{40}", requirement.url or "")


def commands(workflow: Mapping[Any, Any]) -> list[list[str]]:
    """Return the arguments of each `karat` of the workflow."""
    steps = workflow["jobs"]["gate"]["steps"]
    lines = [shlex.split(step["run"]) for step in steps if step.get("run", "").startswith("karat ")]
    return [line[1:] for line in lines]


def test_its_commands_run_and_its_first_lines_prepare_them(
    workflow: Mapping[Any, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    git: Callable[..., str],
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("login", "logout", "reset"):
        (tmp_path / f"{name}.py").write_text(f"def {name}():\n    return {name!r}\n")
    git(tmp_path, "init", "--quiet")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "--quiet", "--message", "Let people log in")
    base = git(tmp_path, "rev-parse", "HEAD").strip()
    cases = [
        {
            "id": name,
            "query": f"where is {name}",
            "ground_truth_files": [f"{name}.py"],
            "base_commit": base,
        }
        for name in ("login", "logout", "reset")
    ]
    (tmp_path / "gold.json").write_text(json.dumps({"test_cases": cases}))
    head = WORKFLOW.read_text(encoding="utf-8").partition("name:")[0].splitlines()
    prepared = [shlex.split(line[1:])[1:] for line in head if line.startswith("#   karat ")]
    assert [line[0] for line in prepared] == ["evaluate", "baseline"]
    wanted = commands(workflow)
    assert [line[0] for line in wanted] == ["evaluate", "gate"]
    for arguments in (*prepared, *wanted):
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        assert not caught.value.code, arguments
    for kept in ("run.jsonl", "gate.xml", "verdict.md"):
        assert (tmp_path / kept).exists()


def test_the_workflow_names_the_extras_of_its_engines() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    for extra in ("http", "mcp"):
        assert f'"{DISTRIBUTION}[{extra}] @ git+..."' in text
