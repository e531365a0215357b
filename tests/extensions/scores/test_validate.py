"""karat validate on files of scores."""

import json
from pathlib import Path

from click.testing import CliRunner, Result

from karat.cli.commands.validate import command


def validate(path: Path, text: str, *options: str) -> Result:
    path.write_text(text)
    return CliRunner().invoke(command, [str(path), *options])


def test_a_file_of_scores_is_valid(tmp_path: Path) -> None:
    path, text = tmp_path / "s.csv", "query,system,score\nq,a,1\nq,b,0.5\nr,a,0\nr,b,0\n"
    done = validate(path, text)
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        f"{path}: scores",
        "  2 queries, 2 systems",
        "  note: system = system, query = query, 1 measure: score; 2 systems, 2 queries",
    ]
    value = json.loads(validate(path, text, "--json").stdout)
    assert (value["kind"], value["systems"], value["valid"]) == ("scores", 2, True)


def test_problems_of_scores_have_their_line(tmp_path: Path) -> None:
    path = tmp_path / "s.csv"
    done = validate(path, "query,system,score\nq,a,1\nq,b,0.5\nr,a,abc\nr,b,0\n")
    assert done.exit_code == 2
    assert done.stderr.startswith(f"{path}:4: score 'abc' is not a number")


def test_a_gold_set_with_unknown_columns_is_no_file_of_scores(tmp_path: Path) -> None:
    for text in ("question,Datei\nwho,a.md\n", "question,Datei,punkte\nwho,a.md,1\nhow,b.md,2\n"):
        done = validate(tmp_path / "gold.csv", text)
        assert done.exit_code == 2
        assert "no column is recognised as the document" in done.stderr
