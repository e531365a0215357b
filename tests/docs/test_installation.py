"""README and docs in an environment that holds Karat's wheel and only the extras that they name."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple, NoReturn
from zipfile import ZipFile

import pytest

from karat.client import Client
from karat.engines.embedding import DEFAULT_EMBEDDER
from karat.installation import DISTRIBUTION
from tests.docs.pages import ROOT, page
from tests.docs.test_commands import check_commands
from tests.extensions.service.conftest import served
from tests.extensions.service.test_quick_start import check_six_calls, commands

PINNED = ROOT / "requirements" / "test.txt"
# The checkout is installed as its wheel, under the extras that a page names in brackets.
FROM_CHECKOUT = re.compile(r"^pip install '?\.(?:\[([\w,]+)\])?'?", re.MULTILINE)
# By PYTHONPATH the checkout would be found. A fresh environment has no byte code yet; each command
# would compile it again. As in the Makefile, uv trusts what the system trusts.
LEFT_OUT = {"PYTHONPATH", "PYTHONDONTWRITEBYTECODE"}
ENVIRONMENT = {
    "UV_SYSTEM_CERTS": "1",
    **{name: text for name, text in os.environ.items() if name not in LEFT_OUT},
}


class Environment(NamedTuple):
    """A virtual environment in which Karat is installed."""

    python: Path

    @property
    def karat(self) -> str:
        """Return the command that the installation has made."""
        return str(self.python.with_name("karat"))


Install = Callable[[str], Environment]


def run(*command: str | Path, folder: Path | None = None) -> subprocess.CompletedProcess[str]:
    """Run *command* without the settings of this Python, and return what it printed."""
    return subprocess.run(
        [str(word) for word in command],
        cwd=folder,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel of this checkout, built by the pinned build back end."""
    pytest.importorskip("hatchling")
    folder = tmp_path_factory.mktemp("wheel")
    done = subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    (made,) = folder.glob("*.whl")
    return made


@pytest.fixture(scope="module")
def install(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory, missing: Callable[[str], NoReturn]
) -> Install:
    """Return what installs the wheel, with extras such as ``server``, in a fresh environment.

    The versions are those of the lock file.
    """
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        missing("uv: make .venv/bin/uv")

    def make(extras: str) -> Environment:
        folder = tmp_path_factory.mktemp("environment")
        done = run(uv, "venv", "--quiet", "--python", sys.executable, folder / "venv")
        assert done.returncode == 0, done.stderr
        python = folder / "venv" / "bin" / "python"
        wanted = f"{DISTRIBUTION}[{extras}] @ {wheel.as_uri()}"
        done = run(uv, "pip", "install", "--quiet", "--python", python, "-c", PINNED, wanted)
        if done.returncode:
            missing(f"packages for a fresh environment: {done.stderr.strip().splitlines()[-1]}")
        return Environment(python)

    return make


def extras_of(page: Path) -> list[str]:
    """Return what each ``pip install`` of the checkout in *page* puts in brackets."""
    return FROM_CHECKOUT.findall(page.read_text(encoding="utf-8"))


def test_what_the_pages_install() -> None:
    assert extras_of(ROOT / "README.md") == [""]
    assert set(extras_of(page("service"))) == {"server"}
    assert set(extras_of(page("web"))) == {"server"}


def test_the_wheel_has_all_files_of_the_package_but_the_pages(wheel: Path) -> None:
    package = ROOT / "src" / "karat"
    made = {
        path.relative_to(package.parent).as_posix()
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    pages = {name for name in made if re.match(r"karat/extensions/\w+/docs/", name)}
    with ZipFile(wheel) as archive:
        packed = {name for name in archive.namelist() if name.startswith("karat/")}
    assert pages
    assert packed == made - pages


def test_the_readme_without_extras(install: Install, tmp_path: Path) -> None:
    (extras,) = extras_of(ROOT / "README.md")
    installed = install(extras)

    def karat(arguments: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
        return run(installed.karat, *arguments, folder=folder)

    check_commands(ROOT / "README.md", tmp_path, karat)
    listed = json.loads(run(installed.karat, "engines", "--json").stdout)
    hints = {entry["name"]: entry["install"] for entry in listed if not entry["available"]}
    assert hints["hybrid"] == f"pip install '{DISTRIBUTION}[dense]'"
    # The hint works: pip finds the distribution installed, and looks only for what is missing.
    pip, verb, wanted = shlex.split(hints["http"])
    there = ("--python", installed.python, verb)
    done = run(sys.executable, "-m", pip, *there, "--dry-run", "--no-index", wanted)
    assert f"Requirement already satisfied: {DISTRIBUTION}[http]" in done.stdout, done.stderr


def test_the_service_with_the_extra_that_its_page_names(install: Install, tmp_path: Path) -> None:
    guide = page("service")
    (extras,) = extras_of(guide)
    started = next(line for line in commands() if line.startswith("karat serve"))
    options = [str(ROOT) if word == "." else word for word in shlex.split(started)[2:]]
    installed = install(extras)
    with served(tmp_path, *options, karat=[installed.karat], environment=ENVIRONMENT) as service:
        check_six_calls(service.address)
        with Client(service.address) as client:
            docs = {"kind": "folder", "path": str(ROOT / "examples" / "service" / "docs")}
            made = client.create_collection("By default", docs)
            *_, last = client.operation_events(str(made.operation_uuid))
            assert last.data["status"] == "completed", last.data
            assert client.collection(made.id).dense.model == DEFAULT_EMBEDDER


def test_make_leaves_the_environment_of_a_user_alone(tmp_path: Path) -> None:
    shutil.copy(ROOT / "Makefile", tmp_path)
    (tmp_path / "requirements").mkdir()
    (tmp_path / "requirements" / "build.txt").touch()
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    done = run("make", "--no-print-directory", ".venv/bin/uv", folder=tmp_path)
    assert done.returncode == 2
    assert "Remove it, or rename it: mv .venv karat-env" in done.stderr
    assert list((tmp_path / ".venv" / "bin").iterdir()) == []
    # README installs into a folder of another name.
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"-m venv (\S+)", readme) == ["karat-env"]
