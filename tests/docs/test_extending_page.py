"""The plug-ins on the page about extensions work as they stand there."""

import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, page

PAGE = page("extending").read_text(encoding="utf-8")
FILE = re.compile(r"^```\w+ (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMANDS = [line for block in BLOCK.findall(PAGE) for line in block.splitlines()]
SHOWN = {
    "--plugin my_plugin.py hello": "Hello from my_plugin.py",
    "init": "my_plugin.py",
    "longest": "characters",
    "score": "two@5",
    "validate": "format pairs",
    "engines": "works",
    "-q": "passed",
    "--plugin my_plugin.py score": "pair@5",
}


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
def test_a_command_does_what_the_page_says(package: Path, command: str) -> None:
    program, *rest = shlex.split(command)
    start = ["-m", "karat"] if program == "karat" else []
    done = run(package, *start, *rest)
    assert done.returncode == 0, done.stderr + done.stdout
    (shown,) = (
        text
        for start, text in SHOWN.items()
        if " ".join(rest).removeprefix("-m pytest ").startswith(start)
    )
    assert shown in done.stdout


def test_the_list_has_what_the_page_adds(package: Path) -> None:
    listed = json.loads(run(package, "-m", "karat", "plugins", "--json").stdout)
    (mine,) = (each for each in listed if each["name"] == "mine")
    assert mine["problem"] is None
    assert mine["origin"] == "my_karat 1.0"
    assert mine["adds"]["command"] == ["longest"]


def test_the_package_keeps_the_contract_of_extensions(package: Path) -> None:
    (package / "test_contract.py").write_text(
        "import pytest\n"
        "from karat.testing import ExtensionSuite\n"
        "from my_karat.extension import EXTENSION\n\n"
        "class TestMine(ExtensionSuite):\n"
        "    @pytest.fixture\n"
        "    def extension(self):\n"
        "        return EXTENSION\n"
    )
    done = run(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_contract.py")
    assert done.returncode == 0, done.stdout


def test_a_bad_file_is_reported_with_its_line(package: Path) -> None:
    (package / "bad.pairs").write_text("a query\ta.py\nno tab\nnor here\n", encoding="utf-8")
    done = run(package, "-m", "karat", "validate", "bad.pairs")
    assert done.returncode == 2
    assert "bad.pairs:2: no tab; expected query<TAB>path" in done.stdout + done.stderr


def test_the_engine_keeps_its_contract(package: Path) -> None:
    done = run(package, "-m", "pytest", "-q", "-p", "no:cacheprovider", "my_karat/test_engine.py")
    assert done.returncode == 0, done.stdout
    assert re.search(r"\b\d\d passed", done.stdout), done.stdout
