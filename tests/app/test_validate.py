import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner

from karat.app.validate import validate
from karat.cli.commands.validate import command
from karat.errors import InputError
from karat.formats import FORMATS, ReadLimits, read_dataset, write
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target

CSV = "query,result1,result2,lang\nwhere,a.rs:1-2:2,b.rs:1-1:1,rust\nwho,a.rs:1-2:0,,go\n"


def run_cli(*arguments: str) -> tuple[int, str, str]:
    done = CliRunner().invoke(command, list(arguments))
    return done.exit_code, done.stdout, done.stderr


def test_a_dataset(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text(CSV)
    validation = validate(path, tags=["hard=2-2"])
    assert validation.valid
    assert (validation.format, validation.kind, validation.match) == (
        "octocode",
        "dataset",
        "lines",
    )
    assert (validation.queries, validation.entries, validation.unjudged) == (2, 3, 1)
    assert list(validation.grades.items()) == [("2", 1), ("1", 1), ("0", 1)]
    assert validation.tags == {"hard": {"standard": 1, "hard": 1}, "lang": {"rust": 1, "go": 1}}


def test_runs(tmp_path: Path) -> None:
    path = tmp_path / "r.jsonl"
    write(Run.of([Answer("a", (Hit("x"),)), Answer("b", outcome=Outcome.ERROR)]), path)
    validation = validate(path)
    assert (validation.kind, validation.queries, validation.entries) == ("run", 2, 1)
    assert validation.outcomes == {"answered": 1, "error": 1}
    trec = tmp_path / "x.run"
    trec.write_text("1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n")
    validation = validate(trec)
    assert (validation.format, validation.queries, validation.entries) == ("trec-run", 1, 2)


def test_problems_are_returned_not_raised(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text(CSV.replace("1-2:2", "2-1:2"))
    validation = validate(path)
    assert not validation.valid
    assert validation.queries == 0
    assert [problem.line for problem in validation.problems] == [2]
    validation = validate(path, limits=ReadLimits(csv_bytes=5))
    assert [problem.message for problem in validation.problems] == [
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
        "  targets not looked up; --corpus FOLDER checks a folder, --repo DIR a Git repository",
        "  match: lines",
        "  grades: 2 (1), 1 (1), 0 (1)",
        "  queries without a relevant target (not scored): 1",
        "  1 query cannot detect any change: too few for a significant difference",
        "  tag lang: rust (1), go (1)",
    ]


def test_the_command_on_a_bad_file(tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text(CSV + "\x1b[31m,x:1,,\n")
    code, out, err = run_cli(str(path))
    assert code == 2
    assert "not valid: 1 problem\n" in out
    assert err == (
        f"{path}:4: 'x:1' is not a result; expected path:first-last:grade, or a path alone\n"
    )
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


# One target that is there and one that is not, in every format of a dataset.
NOT_FILES = {"irds"}
POINTING = {
    "json-qrels": '{"1": {"a.py": 1, "no.py": 1}}',
    "csv": "query,path\nwhere,a.py\nwhere,no.py\n",
    "quepid": "query,docid,rating\nwhere,a.py,1\nwhere,no.py,1\n",
    "gold": '{"test_cases": [{"id": "1", "query": "q", "ground_truth_files": ["a.py", "no.py"]}]}',
    "octocode": "query,result1,result2\nq,a.py:1-2:1,no.py:1-2:1\n",
    "trec-diversity": "1 1 a.py 1\n1 2 no.py 1\n",
    "trec-qrels": "1 0 a.py 1\n1 0 no.py 1\n",
    "beir": "",
}


@pytest.fixture
def repository(tmp_path: Path, git: Callable[..., str]) -> Path:
    project = tmp_path / "project"
    project.mkdir()
    (project / "a.py").write_text("def f():\n    pass\n")
    for words in ("init --quiet", "add .", "commit --quiet -m one"):
        git(project, *words.split())
    return project


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in FORMATS.core()
        if FORMATS.get(name).kind == "dataset" and name not in NOT_FILES
    ],
)
def test_the_targets_of_every_format_are_looked_up(
    name: str, repository: Path, tmp_path: Path
) -> None:
    path = tmp_path / "set"
    if name == "beir":
        (path / "qrels").mkdir(parents=True)
        (path / "queries.jsonl").write_text('{"_id": "1", "text": "q"}\n')
        rows = "query-id\tcorpus-id\tscore\n1\ta.py\t1\n1\tno.py\t1\n"
        (path / "qrels" / "test.tsv").write_text(rows)
    elif name == "folder":
        path.mkdir()
        (path / "a.csv").write_text(POINTING["csv"])
    else:
        path.write_text(POINTING[name])
    validation = validate(path, format=name, repositories={"": str(repository)})
    assert (validation.queries, validation.entries) == (1, 2)
    assert validation.missing == {"paths": 1}
    assert validation.checked["paths"] == 2
    (problem,) = validation.problems
    assert "no.py' at " in str(problem)
    assert validate(path, format=name).valid


def test_the_command_looks_things_up(repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text("query,result1\nwhere,a.py:1-2:2\n")
    code, out, err = run_cli(str(path), "--repo", str(repository))
    assert (code, err) == (0, "")
    assert "  looked up: commits (1), paths (1), lines (1)\n" in out
    path.write_text("query,result1\nwhere,a.py:2-3:2\nwho,b/A.py:1-1:1\n")
    code, out, err = run_cli(str(path), "--repo", str(repository), "--rev", "HEAD")
    assert code == 2
    assert "  not valid: 2 problems\n  2 queries, 2 targets\n" in out
    assert "  missing: lines (1), paths (1)\n" in out
    assert [line.partition(" at ")[0] for line in err.splitlines()] == [
        f"{path}: query '1': a.py has 2 lines",
        f"{path}: query '2': no file 'b/A.py'",
    ]
    code, out, _ = run_cli(str(path), "--repo", str(repository), "--json")
    value = json.loads(out)
    assert (code, value["valid"], value["targets"]) == (2, False, 2)
    assert value["missing"] == {"lines": 1, "paths": 1}
    assert len(value["problems"]) == 2


def test_what_cannot_be_looked_up(repository: Path, tmp_path: Path) -> None:
    trec = tmp_path / "x.run"
    trec.write_text("1 Q0 a 1 2 t\n")
    with pytest.raises(InputError, match="is a run"):
        validate(trec, repositories={"": str(repository)})
    path = tmp_path / "code.csv"
    path.write_text(CSV)
    with pytest.raises(InputError, match="no revision 'v9'"):
        validate(path, repositories={"": str(repository)}, revision="v9")
    # A revision that a user types counts before one that the set names.
    gold = tmp_path / "gold.json"
    data = read_dataset(path)
    named = {"repositories": [{"name": "", "path": str(repository), "revision": "HEAD"}]}
    write(Dataset.of(data.queries(), match=data.match, metadata=named), gold, format="gold")
    assert validate(gold, repositories={"": str(repository)}).checked
    with pytest.raises(InputError, match="no revision 'v9'"):
        validate(gold, repositories={"": str(repository)}, revision="v9")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="is not a Git repository"):
        validate(path, repositories={"": str(tmp_path / "empty")})
    by_id = Query("1", "q", (Target("4711", ref="document_id"),))
    write(Dataset.of([by_id]), gold, format="gold")
    code, out, _ = run_cli(str(gold), "--repo", str(repository))
    assert code == 0
    assert "document ids and hashes, not looked up: 1\n" in out


def test_another_repository_is_one_problem(repository: Path, tmp_path: Path) -> None:
    path = tmp_path / "code.csv"
    path.write_text("query,result1\nwhere,x.rs:1-2:2\nwho,y.rs:1-1:1\n")
    (problem,) = validate(path, repositories={"": str(repository)}).problems
    assert problem.message.startswith(f"none of its 2 paths exists in {repository}; is this the")
    cases = [Query(name, name, (Target("a.py"),), extra={"base_commit": "f" * 40}) for name in "pq"]
    gold = tmp_path / "gold.json"
    write(Dataset.of(cases, name="gold"), gold, format="gold")
    validation = validate(gold, repositories={"": str(repository)})
    assert validation.missing == {"commits": 2}
    (problem,) = validation.problems
    assert problem.message.startswith("none of the commits of its 2 cases exists in ")


def test_the_repository_that_a_set_names(repository: Path, tmp_path: Path) -> None:
    gold = tmp_path / "gold.json"
    cases = [Query("q", "q", (Target("a.py"),))]
    about = {"repository": str(repository)}
    write(Dataset.of(cases, name="gold", metadata=about), gold, format="gold")
    code, out, _ = run_cli(str(gold), "--repo")
    assert (code, "looked up: commits (1), paths (1)" in out) == (0, True)
    write(Dataset.of(cases, name="gold"), gold, format="gold")
    with pytest.raises(InputError, match="does not say where its repository is"):
        validate(gold, repositories={})
    with pytest.raises(InputError, match="nowhere"):
        validate(gold, repositories={"": str(tmp_path / "nowhere")})


def test_all_repositories_that_a_set_does_not_locate_are_named(tmp_path: Path) -> None:
    queries = [Query(f"q{n}", "log in", (Target("a.py"),)) for n in range(2)]
    names = ("astropy__astropy", "pallets__flask")
    write(replace(Dataset.of(queries), tags={"repository": names}), tmp_path / "gold.json")
    options = "--repo astropy__astropy=DIR --repo pallets__flask=DIR, or a clone"
    with pytest.raises(
        InputError, match=f"does not say where its repository is; give it with {options}"
    ):
        validate(tmp_path / "gold.json", repositories={})


def test_symbols_that_are_evidence_are_counted_beside_the_targets(tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    targets = (Target("a"), Target("", symbol="b"), Target("", symbol="c"))
    write(Dataset.of([Query("1", "q", targets)], match="akashic"), path, format="gold")
    validation = validate(path)
    assert (validation.entries, validation.evidence, validation.grades) == (1, 2, {"1": 1})
