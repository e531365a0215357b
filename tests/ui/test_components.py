"""The page's own checks and tests: types, lint, and every component in front of a fake server."""

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest

UI = Path(__file__).resolve().parents[2] / "ui"


@pytest.mark.parametrize("script", ["check", "test"])
def test_script(script: str, missing: Callable[[str], NoReturn]) -> None:
    if not (shutil.which("npm") and (UI / "node_modules" / ".ready").exists()):
        missing("the packages of ui/: make ui/node_modules/.ready")
    done = subprocess.run(
        ["npm", "run", script, "--prefix", str(UI)],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-2000:]
