"""The plug-ins on the page about extensions work as they stand there."""

import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.test_commands import ROOT

PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
FILE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCK.findall(PAGE) for line in block.splitlines()]
SHOWN = {"score": "two@5", "validate": "format pairs", "engines": "works"}


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the files of the page, registered as if they were installed."""
    folder = tmp_path_factory.mktemp("package")
    for name, text in FILE.findall(PAGE):
        place = folder / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text, encoding="utf-8")
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    installed = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    installed.mkdir()
    (installed / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n"
    )
    groups = project["entry-points"].items()
    lines = [
        line
        for group, entries in groups
        for line in (f"[{group}]", *(f"{name} = {value}" for name, value in entries.items()))
    ]
    (installed / "entry_points.txt").write_text("\n".join(lines))
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run Python in *folder*, which is the first that modules are looked for in."""
    return subprocess.run(
        [sys.executable, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_uses_the_plug_in(package: Path, command: str) -> None:
    _, verb, *rest = shlex.split(command)
    done = run(package, "-m", "karat", verb, *rest)
    assert done.returncode == 0, done.stderr
    assert SHOWN[verb] in done.stdout


def test_a_bad_file_is_reported_with_its_line(package: Path) -> None:
    (package / "bad.pairs").write_text("a query\ta.py\nno tab\nnor here\n", encoding="utf-8")
    done = run(package, "-m", "karat", "validate", "bad.pairs")
    assert done.returncode == 2
    assert "bad.pairs:2: no tab; expected query<TAB>path" in done.stdout + done.stderr


def test_the_engine_keeps_its_contract(package: Path) -> None:
    done = run(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "my_karat/test_engine.py")
    assert done.returncode == 0, done.stdout
    assert re.search(r"\b\d\d passed", done.stdout), done.stdout
