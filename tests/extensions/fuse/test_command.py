"""karat fuse: files in, one file out."""

from pathlib import Path

from karat.formats import read_run
from tests.command_line import Karat


def test_two_runs_become_one(karat: Karat, folder: Path) -> None:
    done = karat("fuse", "old.run", "new.run", "-o", "both.run", "-k", "2")
    assert (done.returncode, done.stdout) == (
        0,
        "both.run: 5 queries, 6 hits by rrf from 2 runs\n",
    )
    assert done.stderr == "note: only some of the runs answer 3 queries: q9, q3 and q4\n"
    run = read_run("both.run")
    # In old.run a is second and b third, in new.run they are first and second; x is first of old.
    assert [hit.path for hit in run.answer(0).hits] == ["a", "b"]
    assert run.name == "both"


def test_weights_say_which_run_counts(karat: Karat, folder: Path) -> None:
    assert karat("fuse", "old.run", "new.run", "--weights", "1,0", "-o", "w.run").returncode == 0
    assert [hit.path for hit in read_run("w.run").answer(0).hits] == ["x", "a", "b"]
    done = karat("fuse", "old.run", "new.run", "--weights", "much", "-o", "w.run")
    assert done.returncode == 2
    assert "'much' is not a list of numbers; expected for example 0.7,0.3" in done.stderr


def test_runs_with_other_names_are_a_warning(karat: Karat, folder: Path) -> None:
    (folder / "other.run").write_text("q1 Q0 src/a 1 1 t\n")
    done = karat("fuse", "old.run", "other.run", "-o", "both.run")
    assert done.returncode == 0
    assert "warning: no hit is in two runs" in done.stderr
