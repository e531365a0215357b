"""The command line of trec_eval, with its option letters."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from karat.extensions.trec_eval.command import command
from tests.command_line import Karat


@pytest.fixture
def files(tmp_path: Path) -> list[str]:
    judgments = tmp_path / "qrels"
    judgments.write_text("q1 0 a 1\nq1 0 b 0\nq2 0 a 2\n", encoding="utf-8")
    run = tmp_path / "run"
    run.write_text("q1 Q0 b 1 2 name\nq1 Q0 a 2 1 name\n", encoding="utf-8")
    return [str(judgments), str(run)]


def output_of(*arguments: str, stdin: str | None = None) -> str:
    result = CliRunner().invoke(command, arguments, input=stdin, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_the_official_measures_unless_others_are_asked_for(files: list[str]) -> None:
    lines = output_of(*files).splitlines()
    assert lines[0] == "runid                 \tall\tname"
    assert lines[5] == "map                   \tall\t0.5000"
    assert len(lines) == 30


def test_option_letters_may_stand_together(files: list[str]) -> None:
    assert output_of("-qn", "-mP.1,2", *files) == (
        "P_1                   \tq1\t0.0000\nP_2                   \tq1\t0.5000\n"
    )


def test_complete_and_level_and_depth(files: list[str]) -> None:
    assert output_of("-c", "-m", "map", *files) == "map                   \tall\t0.2500\n"
    assert output_of("-c", "-l2", "-m", "num_rel_ret", *files) == "num_rel_ret           \tall\t0\n"
    assert output_of("-M1", "-m", "num_ret", *files) == "num_ret               \tall\t1\n"


def test_long_names(files: list[str]) -> None:
    long = output_of("--query_eval_wanted", "--measure", "map", "--Judged_docs_only", *files)
    assert long == output_of("-q", "-m", "map", "-J", *files)


def test_the_run_from_the_standard_input(files: list[str]) -> None:
    run = Path(files[1]).read_text(encoding="utf-8")
    assert output_of(files[0], "-", stdin=run) == output_of(*files)


def test_zscores_and_collection(files: list[str], tmp_path: Path) -> None:
    reference = tmp_path / "z"
    reference.write_text("q1 utility_0,0,0,1 4 2\n", encoding="utf-8")
    printed = output_of("-N10", "-Z", str(reference), "-m", "utility.0,0,0,1", *files)
    assert printed == "Zutility_0,0,0,1       \tall\t2.0000\n"


def test_other_judgments(files: list[str]) -> None:
    printed = output_of("-R", "qrels_prefs", "-m", "prefs_simp", *files)
    assert printed == "prefs_simp            \tall\t0.0000\n"


def test_importing_the_command_loads_nothing_heavy() -> None:
    import subprocess
    import sys

    probe = (
        "import sys, karat.extensions.trec_eval.command; "
        "print('numpy' in sys.modules, 'karat.app' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout == "False False\n"


def test_trec_eval_says_what_a_gold_set_is(karat: Karat, folder: Path) -> None:
    case = {"id": "q1", "query": "where", "ground_truth_files": ["a"]}
    (folder / "gold.json").write_text(json.dumps({"test_cases": [case], "metadata": {}}))
    done = karat("trec-eval", "gold.json", "new.run")
    assert done.returncode == 2
    assert "gold.json: this is a gold set (format gold); expected trec-qrels" in done.stderr
