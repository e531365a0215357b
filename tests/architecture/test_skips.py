"""A test may skip for a part that is missing; in CI it fails instead."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).resolve().parents[1] / "conftest.py"
FILES = {
    "test_file.py": 'import pytest\npytest.importorskip("no_such_package")\n',
    "test_parts.py": """
import pytest

@pytest.fixture
def server(missing):
    missing("the server")

def test_package():
    pytest.importorskip("no_such_package")

def test_server(server): ...

def test_other_reason():
    pytest.skip("nothing to close")
""",
}


@pytest.mark.parametrize(
    ("ci", "summary"), [("", "4 skipped"), ("true", "1 failed, 1 skipped, 2 errors")]
)
def test_what_is_missing(ci: str, summary: str, tmp_path: Path) -> None:
    shutil.copy(CONFTEST, tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    options = [
        "-q",
        "-rA",
        "-pno:schemathesis",
        "--continue-on-collection-errors",
        f"--basetemp={tmp_path / 'tmp'}",
    ]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *options, str(tmp_path)],
        cwd=tmp_path,
        env={**os.environ, "CI": ci, "PYTHONPATH": str(CONFTEST.parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.stdout.splitlines()[-1].startswith(summary), ended.stdout
    assert "missing: the server" in ended.stdout
    assert "could not import 'no_such_package'" in ended.stdout


def test_a_missing_package_is_recognised() -> None:
    files = CONFTEST.parent.rglob("test_*.py")
    own_reason = re.compile(r"importorskip\([^)]*reason=")
    assert [file.name for file in files if own_reason.search(file.read_text("utf-8"))] == []
