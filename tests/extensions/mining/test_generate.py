"""karat generate from end to end on small histories: what it writes, says and refuses."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess
from typing import TYPE_CHECKING, Any

import pytest

from karat.cli import main
from karat.errors import EngineError
from karat.formats import read_dataset
from karat.scoring.score import cluster_labels

if TYPE_CHECKING:
    from tests.git_history import Builder

Generate = Callable[..., CompletedProcess[str]]
QUESTION = "Count visitors twice in reports"
MODULE = "160000"


@pytest.fixture
def generate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Generate:
    """Return what runs `karat generate -o gold.json` in an empty folder."""
    folder = tmp_path / "here"
    folder.mkdir()
    monkeypatch.chdir(folder)

    def run(repository: str, *arguments: str) -> CompletedProcess[str]:
        given = ("--repo", repository) if repository else ()
        with pytest.raises(SystemExit) as caught:
            main(["generate", *given, "-o", "gold.json", *arguments])
        streams = capsys.readouterr()
        code = caught.value.code or 0
        assert isinstance(code, int)
        return CompletedProcess(arguments, code, streams.out, streams.err)

    return run


def written(name: str = "gold.json") -> dict[str, Any]:
    value: dict[str, Any] = json.loads(Path(name).read_text(encoding="utf-8"))
    return value


def texts(name: str = "gold.json") -> list[str]:
    return [case["query"] for case in written(name)["test_cases"]]


def test_what_it_says(project: "Builder", generate: Generate) -> None:
    done = generate(project.path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    head = project.git("rev-parse", "main")
    assert lines[0] == f"{project.path}: 14 commits up to {head[:12]}"
    docs = next(line for line in lines if line.startswith("docs-only"))
    assert docs.split()[1:4] == ["6", "42.9%", "7"]
    assert not any(line.startswith("merge") for line in lines), "it dropped nothing"
    assert "complexity  low (5), medium (1)" in lines
    samples = lines[lines.index("wrote 6 cases to gold.json") - 7 :]
    assert any(line.startswith("send a mail for each abandoned cart ") for line in samples)
    assert lines[-2] == "next: karat evaluate gold.json --engine bm25"
    assert lines[-1] == f"      karat inspect gold.json {written()['test_cases'][0]['id']}"


def test_what_it_writes(project: "Builder", generate: Generate) -> None:
    generate(project.path, "--level", "line")
    case = written()["test_cases"][2]
    assert case["query"] == "send a mail for each abandoned cart"
    assert case["ground_truth_files"] == ["shop/cart.py", "shop/mail.py"]
    assert case["targets"][1] == {
        "path": "shop/mail.py",
        "start_line": 5,
        "end_line": 5,
        "symbol": "get_mail",
        "grade": 2.0,
    }
    assert case["base_commit"] == project.git("rev-parse", f"{case['commit_hash']}^")
    assert case["extra"]["candidates"] == {"production": 9, "all": 12}
    assert case["extra"]["related_tests"] == []


def test_the_same_bytes_again_with_and_without_the_cache(
    project: "Builder", generate: Generate
) -> None:
    generate(project.path, "--limit", "3", "--seed", "4", "--adversarial")
    first = Path("gold.json").read_bytes()
    for extra in ((), ("--cache",), ("--cache",)):
        generate(project.path, "--limit", "3", "--seed", "4", "--adversarial", *extra)
        assert Path("gold.json").read_bytes() == first


def test_json(project: "Builder", generate: Generate) -> None:
    value = json.loads(generate(project.path, "--json", "--hardness", "all").stdout)
    assert value["files"] == {"gold.json": value["test_cases_generated"]}
    assert value["tags"]["hardness"]["cleaned"] == 6
    assert value["repositories"][0]["waterfall"]["docs-only"] == 6


def test_questions_of_one_commit_are_no_independent_ones(
    project: "Builder", generate: Generate
) -> None:
    done = generate(project.path, "--hardness", "all", "--adversarial")
    samples = done.stdout.partition("should find\n")[2].partition("wrote")[0]
    assert len(samples.strip().splitlines()) == 1 + 6, "a rule, and each commit once"
    gold = read_dataset("gold.json")
    assert gold.metadata["cluster"] == "commit"
    labels = cluster_labels(gold, None)
    assert labels == [extra["commit_hash"][:12] for extra in gold.extras]  # type: ignore[index]
    assert len(set(labels)) == 6 < len(labels)


def test_only_one_hardness(project: "Builder", generate: Generate) -> None:
    generate(project.path, "--hardness", "dropped")
    assert "show the monthly report by country" in texts()
    assert {case["tags"]["hardness"] for case in written()["test_cases"]} == {"dropped"}


def test_a_gold_set_is_json(project: "Builder", generate: Generate) -> None:
    done = generate(project.path, "-o", "gold.csv")
    assert (done.returncode, "gold.csv: a gold set is written as JSON" in done.stderr) == (2, True)
    assert generate(project.path, "-o", "gold.json.gz").returncode == 0
    assert not Path("gold.csv").exists()


def test_split_by_time(project: "Builder", generate: Generate) -> None:
    done = generate(project.path, "--split", "dev/test", "--test-share", "0.34")
    for cases, name in ((4, "dev"), (2, "test")):
        assert (
            f"wrote {cases} cases to gold.{name}.json\n  {cases} queries cannot detect any change"
        ) in done.stdout
    assert f"karat inspect gold.dev.json {written('gold.dev.json')['test_cases'][0]['id']}" in (
        done.stdout
    )
    newest = [case["timestamp"] for case in written("gold.test.json")["test_cases"]]
    assert min(newest) == written("gold.dev.json")["metadata"]["cutoff"]
    assert not Path("gold.json").exists()


@pytest.mark.parametrize("names", ["dev", "dev/", "dev/test/more", "dev/dev"])
def test_names_that_are_no_pair(generate: Generate, names: str) -> None:
    done = generate(".", "--split", names)
    assert (done.returncode, "expected two names such as dev/test" in done.stderr) == (2, True)


def test_limits_patterns_and_rules(project: "Builder", generate: Generate) -> None:
    generate(project.path, "--min-files", "2")
    assert texts() == ["send a mail for each abandoned cart"]
    generate(project.path, "--exclude-pattern", "cart.py", "--exclude-pattern", "shop/[p-s]*")
    files = [case["ground_truth_files"] for case in written()["test_cases"]]
    assert files == [["shop/login.py"], ["shop/mail.py"]]
    generate(project.path, "--off", "code-equal", "--off", "docs-only")
    assert len(texts()) == 7
    generate(project.path, "--max-commits", "4")
    assert len(texts()) == 1


def test_merges(history: "Builder", generate: Generate) -> None:
    base = history.commit({"a.py": "x = 1\n", "b.py": "x = 1\n"}, "Start")
    side = history.commit({"b.py": "x = 2\n"}, "wip", branch="side", parents=[base])
    merged = {"b.py": "x = 2\n"}
    message = f"Merge pull request #7 from a/side\n\n{QUESTION}"
    history.commit(merged, message, parents=[base, side])
    assert generate(history.path).returncode == 2
    generate(history.path, "--unit", "pr")
    assert (texts(), written()["metadata"]["unit"]) == (["count visitors twice in reports"], "pr")
    generate(history.path, "--include-merges")
    assert texts() == ["count visitors twice in reports"]


def test_several_repositories(
    project: "Builder", new_history: "Callable[[], Builder]", generate: Generate
) -> None:
    other = new_history()
    other.commit({"a.py": "x = 1\n"}, "Start")
    other.commit({"a.py": "x = 2\n"}, QUESTION)
    done = generate(project.path, "--repo", other.path)
    assert "repository  history0 (6), history1 (1)\n" in done.stdout
    assert len(read_dataset("gold.json")) == 7
    assert "given twice" in generate(project.path, "--repo", project.path).stderr


def test_a_file_of_settings(project: "Builder", generate: Generate) -> None:
    Path("benchmark.yaml").write_text(
        f"""
dataset:
  repository_path: "{project.path}"
  exclude_patterns:
    - "*.md"
    - "test_*"
  min_files: 2
  max_files: 20
  include_merge_commits: false
evaluation:
  num_runs: 3
agents: []
output:
  directory: ./results
"""
    )
    assert generate("", "--config", "benchmark.yaml").returncode == 0
    assert len(texts()) == 1
    assert written()["metadata"]["filters"]["max_files"] == 20
    generate("", "--config", "benchmark.yaml", "--min-files", "1")
    assert len(texts()) == 6


def test_rules_are_listed(generate: Generate) -> None:
    listed = generate("", "--list-rules").stdout
    assert "docs-only       it changes only doc files\n" in listed
    assert "code-equal      it changes only comments, docstrings or layout\n" in listed
    told = json.loads(generate("", "--list-rules", "--json").stdout)
    assert told["docs-only"] == "it changes only doc files"
    assert len(told) == len(listed.splitlines())


def test_a_bar_for_those_who_watch(
    project: "Builder", generate: Generate, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    output = generate(project.path).stderr
    assert "reading history" in output
    assert "14" in output
    assert "reading changes" in output
    assert "100%" in output


# What is wrong, and what is said about it.


def test_no_repository(generate: Generate, tmp_path: Path) -> None:
    done = generate(str(tmp_path / "none"))
    assert (done.returncode, done.stderr) == (
        2,
        f"error: {tmp_path}/none: no such folder; expected a Git repository\n",
    )
    done = generate(str(tmp_path))
    assert (done.returncode, "is not a Git repository" in done.stderr) == (2, True)
    assert not Path("gold.json").exists()


def test_no_commits(history: "Builder", generate: Generate) -> None:
    done = generate(history.path)
    assert (done.returncode, done.stderr) == (2, f"error: {history.path}: no commits yet\n")


def test_an_unborn_branch(project: "Builder", generate: Generate) -> None:
    project.git("symbolic-ref", "HEAD", "refs/heads/unborn")
    assert "no branch 'HEAD'" in generate(project.path).stderr
    assert generate(project.path, "--branch", "main").returncode == 0
    assert "no branch '--all'" in generate(project.path, "--branch=--all").stderr


def test_a_tag_that_says_something(project: "Builder", generate: Generate) -> None:
    identity = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
    project.git(*identity, "tag", "--annotate", "--message=First release", "v1", "main")
    tip = project.git("rev-parse", "main")
    assert generate(project.path, "--branch", "v1").returncode == 0
    assert written()["metadata"]["repositories"][0]["head"] == tip


def test_signatures_are_not_checked(project: "Builder", generate: Generate, tmp_path: Path) -> None:
    head, _, message = project.git("cat-file", "commit", "main").partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n -----END PGP SIGNATURE-----"
    signed = f"{head}\n{signature}\n\n{message}".encode()
    tip = project.git("hash-object", "-t", "commit", "-w", "--stdin", given=signed)
    project.git("update-ref", "refs/heads/main", tip)
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n", encoding="utf-8")
    trap.chmod(0o755)
    project.git("config", "gpg.program", str(trap))
    project.git("config", "log.showSignature", "true")
    assert generate(project.path).returncode == 0
    assert not (tmp_path / "sprung").exists()


def test_no_commit_in_that_time(project: "Builder", generate: Generate) -> None:
    done = generate(project.path, "--since", "2200-01-01")
    assert "no commits to mine; check --since, --until and --branch" in done.stderr
    assert "expected a date such as 2024-01-31" in generate(project.path, "--until", "x").stderr
    assert "--unit commit" in generate(project.path, "--unit", "pr").stderr


def test_no_case_is_left(history: "Builder", generate: Generate) -> None:
    history.commit({"a.py": "x = 1\n"}, "Start")
    for number in range(3):
        history.commit({"a.md": str(number)}, QUESTION)
    done = generate(history.path)
    assert done.returncode == 2
    assert done.stderr.endswith(
        "none of 4 commits is usable; rule 'docs-only' dropped 3: it changes only doc files; "
        "--off docs-only turns the rule off\n"
    )
    assert generate(history.path, "--off", "docs-only").returncode == 0


def test_what_cannot_be_turned_off(history: "Builder", generate: Generate) -> None:
    history.commit({"a.py": "x\0"}, "Start")
    history.commit({"a.py": "y\0"}, QUESTION)
    history.commit({"a.py": "z\0"}, f"{QUESTION} of stock")
    assert generate(history.path).stderr.endswith(
        "rule 'unreadable' dropped 2: too few of its files are readable text\n"
    )


def test_a_shallow_clone(project: "Builder", generate: Generate, tmp_path: Path) -> None:
    clone = str(tmp_path / "clone")
    project.git("clone", "--quiet", "--bare", "--depth=8", f"file://{project.path}", clone)
    done = generate(clone)
    assert done.returncode == 0
    assert done.stderr.startswith("note: shallow clone: ")
    assert len(texts()) == 3


def test_a_folder_that_is_not_there(project: "Builder", generate: Generate) -> None:
    done = generate(project.path, "-o", "none/gold.json")
    assert (done.returncode, "the folder does not exist" in done.stderr) == (2, True)


def test_an_unknown_rule(project: "Builder", generate: Generate) -> None:
    assert "did you mean 'docs-only'?" in generate(project.path, "--off", "doc-only").stderr


def test_a_commit_that_cannot_be_read(project: "Builder", generate: Generate) -> None:
    project.lose("main~5:shop/mail.py")
    done = generate(project.path)
    assert (done.returncode, len(texts())) == (0, 5)
    assert "1 commits cannot be read (" in done.stderr


def test_odd_files_are_left_out_and_counted(history: "Builder", generate: Generate) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n"
    oid = history.commit({"x": "1"}, "Start")
    files: dict[Any, Any] = {
        "code.py": "x = 1\n",
        "link.py": ("120000", "code.py"),
        "sub.py": (MODULE, oid),
        "lfs.py": pointer,
        "large.py": "x = 1\n" * 200_000,
        b"caf\xe9.py": "x = 1\n",
        "Case.py": "x = 1\n",
    }
    history.commit(files, "Start")
    changed: dict[Any, Any] = {
        "code.py": "x = 2\n",
        "link.py": ("120000", "large.py"),
        "sub.py": (MODULE, history.git("rev-parse", "main")),
        "lfs.py": pointer.replace(":0", ":1"),
        "large.py": "x = 2\n" * 200_000,
        b"caf\xe9.py": "x = 2\n",
        "Case.py": None,
        "case.py": "x = 1\n",
    }
    history.commit(changed, "Größe: count visitors twice in caf\xe9 reports".encode("latin-1"))
    done = generate(history.path)
    assert done.returncode == 0
    (case,) = written()["test_cases"]
    assert case["ground_truth_files"] == ["Case.py", "code.py"]
    assert done.stderr.startswith("note: files excluded from the targets: ")
    for reason in ("lfs-pointer (1)", "too-large (1)", "name-not-utf-8 (1)"):
        assert reason in done.stderr


def test_a_cache_that_cannot_be_opened_is_named_and_not_used(
    project: "Builder", generate: Generate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "cache").touch()
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    with pytest.warns(UserWarning, match=r"cache of commits cannot be used: .* without it$"):
        assert generate(project.path, "--cache").returncode == 0
    assert written()["test_cases"]


def test_a_model_words_the_queries(
    project: "Builder", generate: Generate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def complete(instruction: str, text: str) -> str:
        if "mail" in text:
            raise EngineError("model: no route")
        return "look into shop/cart.py for it" if "cart" in text else "goods run out without notice"

    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("karat.extensions.llm.client.open_model", str)
    monkeypatch.setattr("karat.extensions.llm.batch.completer", lambda model, **_: complete)
    done = generate(project.path, "--rewrite", "openai/x", "--off", "duplicate")
    assert "wording     rewritten (4), llm_failed (1), llm_leaked (1)\n" in done.stdout
    assert "rewritten-alike" not in done.stdout
    assert done.stderr == "note: the language model failed for some queries: model: no route\n"
    statuses = {case["query"]: case["query_status"] for case in written()["test_cases"]}
    assert statuses["send a mail for each abandoned cart"] == "llm_failed"
    assert statuses["keep the cart when visitors reload the page"] == "llm_leaked"
    assert statuses["goods run out without notice"] == "rewritten"


def test_queries_that_a_model_made_alike_are_dropped_and_counted(
    project: "Builder", generate: Generate, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def complete(instruction: str, text: str) -> str:
        return (
            "Goods run out, without notice!" if "cart" in text else "goods run out without notice"
        )

    plain = generate(project.path)
    assert plain.returncode == 0
    cases = {case["id"]: case["timestamp"] for case in written()["test_cases"]}
    assert len(cases) == 6
    monkeypatch.setenv("KARAT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("karat.extensions.llm.client.open_model", str)
    monkeypatch.setattr("karat.extensions.llm.batch.completer", lambda model, **_: complete)
    done = generate(project.path, "--rewrite", "openai/x")
    (left,) = written()["test_cases"]
    assert left["timestamp"] == min(cases.values())
    row = next(line for line in done.stdout.splitlines() if line.startswith("rewritten-alike"))
    assert row.split()[1] == "5"
    assert row.endswith("the model returned the query of another commit")
    (mined,) = written()["metadata"]["repositories"]
    assert (mined["cases"], mined["waterfall"]["rewritten-alike"]) == (1, 5)


def test_a_huge_file_is_not_read(history: "Builder", generate: Generate) -> None:
    lines = 11_000_000 // 6
    history.commit({"huge.py": "x = 1\n" * lines, "a.py": "x = 1\n"}, "Start")
    history.commit({"huge.py": "x = 2\n" * lines, "a.py": "x = 2\n"}, QUESTION)
    done = generate(history.path)
    assert (done.returncode, done.stderr) == (
        0,
        "note: files excluded from the targets: binary (1)\n",
    )
    assert written()["test_cases"][0]["ground_truth_files"] == ["a.py"]


def test_built_files_are_targets_only_if_generated_files_are_wanted(
    generate: Generate, history: "Builder"
) -> None:
    built = ("web/static/assets/index-BMoFnAfk.js", "web/app.js", "web/lib.min.js")
    history.commit({**dict.fromkeys(built, "f(1);" * 1000), "web/cart.ts": "let a = 1;\n"}, "Start")
    changed = {**dict.fromkeys(built, "g(2);" * 1000), "web/cart.ts": "let a = 2;\n"}
    history.commit(changed, QUESTION)

    def paths(*options: str) -> set[str]:
        done = generate(history.path, *options)
        assert done.returncode == 0, done.stderr
        mined = read_dataset("gold.json").queries()
        return {target.path for query in mined for target in query.targets}

    assert paths() == {"web/cart.ts"}
    assert paths("--off", "generated-only") == {"web/cart.ts", *built}
