"""The list of the cases of a gold set."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from karat.extensions.inspect.command import command

WIDTH = 100


def inspect(*arguments: str) -> Result:
    return CliRunner().invoke(command, list(arguments))


@pytest.mark.parametrize("cases", [20, 21, 250])
def test_a_long_list_is_cut_after_twenty_cases(tmp_path: Path, cases: int) -> None:
    path = tmp_path / "gold.csv"
    rows = (f"q{row},{'where is it ' * 20},a.md" for row in range(cases))
    path.write_text("\n".join(["query_id,query,document", *rows]))
    done = inspect(str(path))
    assert done.exit_code == 0, done.output
    listed = [line for line in done.stdout.splitlines() if line.startswith("q")]
    assert [line.split()[0] for line in listed] == [f"q{row}" for row in range(20)]
    assert max(map(len, listed)) <= WIDTH
    hint = f"{cases - 20} more case{'s' if cases > 21 else ''}; --json lists all"
    assert (hint in done.stdout) is (cases > 20)
    assert done.stdout.split("its targets: ")[1].split() == ["karat", "inspect", str(path), "q0"]
    assert inspect(str(path), "--json").stdout.count('"query"') == cases


def test_a_row_without_a_query_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "gold.csv"
    path.write_text("query,document\nwho,a.md\n,b.md\nhow,c.md\n")
    done = inspect(str(path))
    assert done.exit_code == 0, done.output
    assert done.stderr == f"warning: {path}:3: the query is empty; the row is left out\n"
    assert "gold.csv, 2 cases" in done.stdout
