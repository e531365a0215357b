"""The GitHub workflow that users copy is YAML, and its commands run in its order."""

import json
import os
import re
import shlex
import subprocess
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


def step_of(workflow: Mapping[Any, Any], name: str) -> Mapping[str, Any]:
    """Return the step called *name*."""
    (found,) = (step for step in workflow["jobs"]["gate"]["steps"] if step.get("name") == name)
    return dict(found)


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        ("11\n12\n", "api --method PATCH repos/me/it/issues/comments/12 --field body=@verdict.md"),
        ("", "pr comment 7 --body-file verdict.md"),
    ],
)
def test_only_its_own_comment_is_edited(
    workflow: Mapping[Any, Any], tmp_path: Path, known: str, expected: str
) -> None:
    step = step_of(workflow, "Comment")
    program = tmp_path / "gh"
    program.write_text('#!/bin/sh\necho "$@" >> calls\ncase "$*" in *--jq*) cat known;; esac\n')
    program.chmod(0o755)
    (tmp_path / "known").write_text(known)
    (tmp_path / "verdict.md").write_text("## passed\n")
    marker = step["env"]["MARKER"]
    environment = {
        "PATH": f"{tmp_path}:{os.environ['PATH']}",
        "GH_REPO": "me/it",
        "NUMBER": "7",
        "MARKER": marker,
    }
    subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, check=True)
    listed, done = (tmp_path / "calls").read_text().splitlines()
    assert listed.startswith("api repos/me/it/issues/7/comments --paginate --jq ")
    assert f'contains("{marker}")' in listed
    assert done == expected
    assert (tmp_path / "verdict.md").read_text() == f"## passed\n\n{marker}\n"


def test_a_failed_search_replaces_the_comment(workflow: Mapping[Any, Any], tmp_path: Path) -> None:
    step = step_of(workflow, "No verdict")
    assert "failure()" in step["if"]
    environment = {"PATH": os.environ["PATH"], "LOG": "https://example.org/runs/1"}
    subprocess.run(["bash", "-e", "-c", step["run"]], cwd=tmp_path, env=environment, check=True)
    text = (tmp_path / "verdict.md").read_text(encoding="utf-8")
    assert text.startswith("## ❌ Search quality was not checked\n")
    assert "[log](https://example.org/runs/1)" in text
    names = [each.get("name") for each in workflow["jobs"]["gate"]["steps"]]
    assert names.index("Gate") < names.index("No verdict") < names.index("Comment")


def test_latency_is_not_measured_on_a_runner(workflow: Mapping[Any, Any]) -> None:
    assert "--timed none" in step_of(workflow, "Search")["run"]


def test_the_workflow_names_the_extras_of_its_engines() -> None:
    text = WORKFLOW.read_text(encoding="utf-8")
    for extra in ("http", "mcp"):
        assert f'"{DISTRIBUTION}[{extra}] @ git+..."' in text
