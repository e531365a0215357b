import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from karat.app.validate import validate
from karat.cli.validate import command
from karat.errors import InputError
from karat.formats import Limits, write
from karat.model import Answer, Hit, Outcome, Run

CSV = "query,result1,result2,lang\nwhere,a.rs:1-2:2,b.rs:1-1:1,rust\nwho,a.rs:1-2:0,,go\n"


def run_cli(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(command, list(arguments))
    return done.exit_code, done.stdout, done.stderr


def test_a_dataset(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text(CSV)
    found = validate(path, tags=["hard=2-2"])
    assert found.valid
    assert (found.format, found.kind, found.match) == ("octocode", "dataset", "lines")
    assert (found.queries, found.entries, found.unjudged) == (2, 3, 1)
    assert list(found.grades.items()) == [("2", 1), ("1", 1), ("0", 1)]
    assert found.tags == {"hard": {"standard": 1, "hard": 1}, "lang": {"rust": 1, "go": 1}}


def test_runs(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write(Run.of([Answer("a", (Hit("x"),)), Answer("b", outcome=Outcome.ERROR)]), path)
    found = validate(path)
    assert (found.kind, found.queries, found.entries) == ("run", 2, 1)
    assert found.outcomes == {"answered": 1, "error": 1}
    trec = tmp_path / "x.run"
    trec.write_text("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")
    found = validate(trec)
    assert (found.format, found.queries, found.entries) == ("trec-run", 1, 2)


def test_problems_are_returned_not_raised(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text(CSV.replace("1-2:2", "2-1:2"))
    found = validate(path)
    assert not found.valid
    assert found.queries == 0
    assert [problem.line for problem in found.problems] == [2]
    found = validate(path, limits=Limits(csv_bytes=5))
    assert [problem.message for problem in found.problems] == [
        "larger than 5 bytes (setting csv_bytes)"
    ]


def test_what_cannot_be_told_is_raised(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        validate(tmp_path / "absent")


def test_the_command(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text(CSV)
    code, out, err = run_cli(str(path))
    assert (code, err) == (0, "")
    assert out.splitlines() == [
        f"{path}: dataset, format octocode",
        "  2 queries, 3 targets",
        "  match: lines",
        "  grades: 2 (1), 1 (1), 0 (1)",
        "  without a relevant target, hence not scored: 1",
        "  tag lang: rust (1), go (1)",
    ]


def test_the_command_on_a_bad_file(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text(CSV + "\x1b[31m,x,,\n")
    code, out, err = run_cli(str(path))
    assert code == 2
    assert "not valid: 1 problem\n" in out
    assert err == f"{path}:4: 'x' is no result; expected path:first-last:grade\n"
    code, out, _ = run_cli(str(path), "--json")
    assert code == 2
    value = json.loads(out)
    assert value["valid"] is False
    assert value["problems"][0]["line"] == 4


def test_many_values_are_cut_short(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    rows = [f"q{n},a:1-2:1,\x1b[{n}m\n" for n in range(20)]
    path.write_text("query,result1,t\n" + "".join(rows))
    code, out, _ = run_cli(str(path))
    assert code == 0
    assert "and 12 more" in out
    assert "\x1b" not in out
