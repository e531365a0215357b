import json
import os
import platform
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from karat.experiments.store.database import environment


def test_the_environment() -> None:
    found = environment()
    assert found["python"] == platform.python_version()
    assert found["cores"] == os.cpu_count()
    assert found["cpu"]
    packages = found["packages"]
    assert isinstance(packages, dict)
    assert packages["sqlalchemy"] == version("sqlalchemy")
    assert packages["numpy"] == version("numpy")
    assert json.loads(json.dumps(dict(found))) == found


def test_the_revision_is_that_of_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert environment()["revision"] == ""
    git = ["git", "-c", "user.name=a", "-c", "user.email=a@b.c"]
    for words in (["init", "--quiet"], ["commit", "--quiet", "--allow-empty", "--message=one"]):
        subprocess.run([*git, *words], check=True)
    named = subprocess.run(["git", "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
    revision = environment()["revision"]
    assert revision
    assert named.stdout.startswith(str(revision))


@pytest.mark.parametrize(
    "code",
    ["import karat.experiments.store", "import karat.cli.commands.score, karat.scoring.score"],
)
def test_sqlalchemy_is_imported_late(code: str) -> None:
    probe = f"{code}\nimport sys; sys.exit('sqlalchemy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", probe], check=False).returncode == 0
