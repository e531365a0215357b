"""The command line answers at once: asking for help loads nothing heavy."""

import json
import subprocess
import sys

HEAVY = {"fastapi", "numpy", "pandas", "polars", "pydantic", "scipy", "sqlalchemy", "yaml"}

PROBE = """
import json, sys
from karat.cli import main
sys.argv[0] = "karat"
try:
    main()
finally:
    json.dump(sorted(sys.modules), sys.stderr)
"""


def run_karat(*arguments: str) -> tuple[str, set[str]]:
    """Return what `karat *arguments*` prints, and the modules that it has loaded by then."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE, *arguments], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, set(json.loads(done.stderr))


def test_help_loads_nothing_heavy() -> None:
    printed, modules = run_karat("--help")
    assert "Usage" in printed
    assert "karat.cli" in modules
    assert not HEAVY & modules
