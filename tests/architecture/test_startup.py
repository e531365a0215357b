"""The command line answers at once: asking for help loads nothing heavy."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

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


def test_the_process_of_an_engine_loads_what_its_engine_needs() -> None:
    """One is started for every run, so that it costs no more than the engine asks for."""
    probe = """
import json, sys
import karat.experiments.workers.worker
before = sorted(sys.modules)
from karat.engines.spec import build
build("bm25")
json.dump([before, sorted(sys.modules)], sys.stdout)
"""
    done = subprocess.run(
        [sys.executable, "-c", probe], capture_output=True, text=True, check=True
    ).stdout
    started, built = map(set, json.loads(done))
    assert not HEAVY & started
    assert HEAVY & built == {"numpy"}


WATCHED = """
import os, sys
class Watch:
    def find_spec(self, name, *others):
        if name == "numpy":
            print("threads", os.environ.get("OPENBLAS_NUM_THREADS"), file=sys.stderr)
sys.meta_path.insert(0, Watch())
from karat.cli import main
main()
"""


@pytest.mark.parametrize(
    "words", ["score {gold} {run} --json", "report {gold} {run} -o {out}", "compare {gold} {run}"]
)
def test_comparisons_load_numpy_for_one_thread(words: str, tmp_path: Path) -> None:
    demo = Path(__file__).resolve().parents[2] / "examples" / "demo"
    typed = words.format(gold=demo / "gold.json", run=demo / "bm25.run", out=tmp_path / "a.md")
    here = {name: value for name, value in os.environ.items() if name != "OPENBLAS_NUM_THREADS"}
    done = subprocess.run(
        [sys.executable, "-c", WATCHED, *typed.split()],
        capture_output=True,
        text=True,
        check=False,
        env=here,
    )
    assert [line for line in done.stderr.splitlines() if line.startswith("threads")] == [
        "threads 1"
    ], done.stderr
