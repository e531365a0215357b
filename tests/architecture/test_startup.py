"""The command line answers at once: asking for help loads nothing heavy."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

# What a command may import beyond click. Each module costs every user of the command 0.2 to 4 ms:
# an import that only some calls need belongs inside the function that needs it.
HELP = {
    *(
        "karat",
        "karat.cli",
        "karat.cli.help",
        "karat.cli.main",
        "karat.cli.options",
        "karat.cli.options.stray",
    ),
    *("karat.discovery", "karat.errors", "karat.exports", "karat.extension", "karat.extensions"),
    *("gc", "karat.installation", "locale", "textwrap"),
}
SCORE = {
    *("array", "bisect", "copy", "dataclasses", "gc", "locale", "struct", "textwrap"),
    *("karat", "karat.discovery", "karat.errors", "karat.exports", "karat.installation"),
    "karat.registry",
    *("karat.app", "karat.app.score"),
    *(
        "karat.cli",
        "karat.cli.commands",
        "karat.cli.commands.score",
        "karat.cli.help",
        "karat.cli.main",
    ),
    *("karat.cli.options", "karat.cli.options.scoring", "karat.cli.options.shared"),
    *("karat.cli.options.stray", "karat.model.settings"),
    *("karat.cli.output", "karat.cli.output.show"),
    *("karat.formats", "karat.formats.base", "karat.formats.load", "karat.formats.objects"),
    *("karat.formats.ranked_columns", "karat.formats.source"),
    *("karat.formats.trec_qrels", "karat.formats.trec_run"),
    *("karat.model", "karat.model.dataset", "karat.model.evaluation", "karat.model.frozen"),
    *("karat.model.judged", "karat.model.judgments", "karat.model.run"),
    *("karat.report", "karat.report.display", "karat.report.overview"),
    *("karat.report.rows", "karat.report.score_view", "karat.report.table", "karat.report.text"),
    *("karat.scoring", "karat.scoring.human_sample", "karat.scoring.labels"),
    *("karat.scoring.matching", "karat.scoring.matching.documents"),
    *("karat.scoring.matching.judge", "karat.scoring.matching.mismatch"),
    *("karat.scoring.matching.modes", "karat.scoring.matching.near_misses"),
    *("karat.scoring.matching.regions", "karat.scoring.whole_files"),
    *(
        "karat.scoring.metrics",
        "karat.scoring.metrics.catalogue",
        "karat.scoring.metrics.definition",
    ),
    *("karat.scoring.metrics.evaluate", "karat.scoring.metrics.gain"),
    *("karat.scoring.metrics.measure",),
    *("karat.scoring.metrics.precision_recall", "karat.scoring.metrics.sets"),
    *("karat.scoring.score", "karat.scoring.settings", "karat.system", "karat.system.words"),
}

# Help lists the commands of extensions, and so reads their records.
RECORD = re.compile(r"karat\.extensions\.\w+(\.extension)?")

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


def beyond_click(modules: set[str]) -> set[str]:
    """Return those of *modules* that click has not loaded, without private ones of Python."""
    probe = "import click, json, sys; json.dump(sorted(sys.modules), sys.stdout)"
    loaded = subprocess.run([sys.executable, "-c", probe], capture_output=True, check=True).stdout
    public = {name for name in modules if not name.rpartition(".")[2].startswith("_")}
    return public - set(json.loads(loaded))


def too_many(command: str, modules: set[str], allowed: set[str]) -> str:
    """Return what to do about modules that are not *allowed*, "" without any."""
    if not (new := sorted(beyond_click(modules) - allowed)):
        return ""
    return (
        f"`karat {command}` now also imports {', '.join(new)}. Import it inside the function that "
        "needs it (python -X importtime shows which module does and what it costs); if every call "
        "needs it, add it to the list here and measure benchmarks/startup.py again."
    )


def check(command: str, modules: set[str], allowed: set[str]) -> None:
    if message := too_many(command, modules, allowed):
        pytest.fail(message, pytrace=False)
    assert not allowed - modules, "the list has modules that are not imported; remove them"


def test_help_imports_what_the_list_allows() -> None:
    printed, modules = run_karat("--help")
    assert "Usage" in printed
    assert not HEAVY & modules
    assert "importlib.metadata" not in modules
    check("--help", {name for name in modules if not RECORD.fullmatch(name)}, HELP)


def test_score_imports_what_the_list_allows(tmp_path: Path) -> None:
    gold, run = tmp_path / "qrels.txt", tmp_path / "bm25.run"
    gold.write_text("q1 0 d1 1\nq2 0 d2 1\n")
    run.write_text("q1 Q0 d1 1 2.0 bm25\nq2 Q0 d3 1 2.0 bm25\nq2 Q0 d2 2 1.0 bm25\n")
    printed, modules = run_karat("score", str(gold), str(run), "--ci", "none")
    assert "ndcg@10" in printed
    check("score", modules, SCORE)


def test_compare_of_files_loads_nothing_that_runs_engines(tmp_path: Path) -> None:
    (tmp_path / "qrels.txt").write_text("q1 0 d1 1\nq2 0 d2 1\n")
    for name in ("a", "b"):
        (tmp_path / f"{name}.run").write_text(f"q1 Q0 d1 1 2.0 {name}\nq2 Q0 d3 1 2.0 {name}\n")
    files = [str(tmp_path / name) for name in ("qrels.txt", "a.run", "b.run")]
    printed, modules = run_karat("compare", *files)
    assert "ndcg@10" in printed
    unneeded = ("karat.app.report", "karat.engines", "karat.experiments", "karat.report.findings")
    assert [name for name in sorted(modules) if name.startswith(unneeded)] == []


STARTED = """
import gc, sys
searches = []
gc.callbacks.append(lambda phase, _info: searches.append(phase))
from karat.__main__ import main
searches.clear()
try:
    main()
finally:
    print(len(searches), gc.isenabled(), gc.get_freeze_count() > 0, file=sys.stderr)
"""


def test_no_garbage_is_looked_for_until_a_command_is_loaded() -> None:
    def started(*words: str) -> list[str]:
        done = subprocess.run(
            [sys.executable, "-c", STARTED, *words], capture_output=True, text=True, check=True
        )
        return done.stderr.split()

    assert started("--help") == ["0", "False", "False"]
    assert started("score", "--help")[1:] == ["True", "True"]


def test_a_new_import_is_named_with_what_to_do_about_it() -> None:
    assert not too_many("--help", {"karat.cli", "_bisect"}, HELP)
    assert "now also imports karat.model, wave. Import it inside" in too_many(
        "--help", {"karat.cli", "karat.model", "wave"}, HELP
    )


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
