"""karat generate --from, end to end: the set travels, its texts are hidden from every engine."""

import json
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from karat.cli import main
from karat.corpus import Corpus
from karat.errors import InputError
from karat.experiments.target_check import Where
from karat.extensions.mining.carry_file import carry_file
from karat.extensions.mining.filters import FilterWaterfall
from karat.extensions.mining.gold_source import read_mining_config
from karat.extensions.mining.questions.generate import (
    MASKED,
    QuestionRecipe,
    generate_questions,
    open_corpus,
    question_set,
)
from karat.extensions.mining.questions.selection import QuestionSample
from karat.extensions.mining.questions.wording import Question
from karat.formats import read_dataset, write
from karat.formats.gold import gold_digest
from karat.model import Dataset, Target

FILES = {
    "shop/cart.py": '"""Baskets that survive a reload of the browser."""\n\n\nclass Cart:\n'
    '    """Holds articles until the visitor has paid for them."""\n\n'
    "    def total(self):\n"
    '        """Sum up the prices of all articles with value added tax."""\n'
    "        return sum(self.prices)\n",
    "shop/mail.py": "def remind(visitor):\n"
    '    """Write to visitors who abandoned their basket yesterday."""\n'
    "    send(visitor)\n    return True\n",
    "docs/use.md": "# Send reminders by post\n\nCustomers who left goods behind get a letter after "
    "one night, unless they have opted out of all letters.\n",
    "tests/test_mail.py": "def test_remind_absent_visitors_once():\n    remind('x')\n\n\n"
    "def test_totally_different_colours_and_shapes():\n    pass\n",
}
SOURCES = ("docstrings", "headings", "tests")


@pytest.fixture
def shop(tmp_path: Path, git: Callable[..., str]) -> Path:
    folder_path = tmp_path / "shop"
    for path, text in FILES.items():
        file = folder_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    git(folder_path, "init", "--quiet")
    git(folder_path, "add", ".")
    git(folder_path, "commit", "--quiet", "-m", "Start")
    return folder_path


def made(path: Path, made_from: str, *, folder: bool = False, **settings: object) -> Dataset:
    recipe = QuestionRecipe(made_from, **settings)  # type: ignore[arg-type]
    return generate_questions(str(path), recipe, folder=folder)[0]


def searched(gold: Dataset, where: Where) -> Corpus:
    with where.snapshots(gold, seed=0) as snapshots:
        (one,) = snapshots
        return one.corpus


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(arguments)
    return int(caught.value.code or 0)


@pytest.mark.parametrize("made_from", SOURCES)
def test_no_query_is_in_the_searched_corpus(shop: Path, made_from: str) -> None:
    gold = made(shop, made_from)
    assert len(gold)
    corpus = searched(gold, Where())
    texts = {document.path: text for document, text in corpus.texts()}
    for query in gold.queries():
        assert not any(query.text.lower() in text.lower() for text in texts.values())
        for target in query.targets:
            lines = texts[target.path].split("\n")
            assert 1 <= target.start_line <= target.end_line <= len(lines)
            assert "".join(lines[target.start_line - 1 : target.end_line]).strip()


def test_docstrings(shop: Path, git: Callable[..., str]) -> None:
    gold = made(shop, "docstrings")
    assert sorted(gold.texts) == [
        "Baskets that survive a reload of the browser",
        "Holds articles until the visitor has paid for them",
        "Sum up the prices of all articles with value added tax",
        "Write to visitors who abandoned their basket yesterday",
    ]
    assert set(gold.tags["kind"]) == {"docstring"}
    assert gold.metadata["generated_from"] == "docstrings"
    assert gold.metadata["generated_at"] == "2024-01-01T00:00:00Z"
    head = git(shop, "rev-parse", "HEAD")
    assert {extra["base_commit"] for extra in gold.extras} == {head}


def test_tests_are_no_candidates(shop: Path) -> None:
    gold = made(shop, "tests")
    (query,) = gold.queries()
    assert (query.text, query.targets[0].symbol) == ("remind absent visitors once", "remind")
    assert "tests/test_mail.py" not in searched(gold, Where()).by_path
    assert "tests/test_mail.py" not in searched(gold, Where(corpus=str(shop))).by_path


def test_only_the_texts_of_the_queries(shop: Path) -> None:
    gold = made(shop, "docstrings", masked="queries", limit=1)
    text = "".join(text for _, text in searched(gold, Where()).texts())
    others = [query for query in made(shop, "docstrings").texts if query not in gold.texts]
    assert gold.texts[0] not in text
    assert all(other in text for other in others)


def test_sets_that_mask_differently_are_not_confused(shop: Path) -> None:
    every, own = (made(shop, "docstrings", masked=masked, limit=1) for masked in MASKED)
    assert list(every.queries()) == list(own.queries())
    assert gold_digest(every) != gold_digest(own)
    assert gold_digest(replace(every, metadata={**every.metadata, "tool": "x"})) == (
        gold_digest(every)
    )


def test_sets_that_mask_differently_are_not_evaluated_together(shop: Path, tmp_path: Path) -> None:
    folder = tmp_path / "sets"
    folder.mkdir()
    for made_from in ("docstrings", "headings"):
        write(made(shop, made_from), folder / f"{made_from}.json", format="gold")
    with pytest.raises(InputError, match=r"mask different lines \(docstrings, headings have masks"):
        read_dataset(folder)
    (folder / "headings.json").unlink()
    write(made(shop, "docstrings"), folder / "again.json", format="gold")
    assert read_dataset(folder).metadata["masks"]


def test_the_same_bytes_again(shop: Path, tmp_path: Path) -> None:
    for name in ("a.json", "b.json"):
        write(made(shop, "docstrings", limit=2, seed=3), tmp_path / name, format="gold")
    assert (tmp_path / "a.json").read_bytes() == (tmp_path / "b.json").read_bytes()


def test_a_plain_folder(shop: Path) -> None:
    gold = made(shop, "headings", folder=True)
    assert gold.texts == ("Send reminders by post",)
    assert "base_commit" not in gold.extras[0]
    assert "repository" not in gold.metadata
    assert searched(gold, Where(corpus=str(shop))).read("docs/use.md").startswith("# …\n")


def test_pages_of_html(tmp_path: Path) -> None:
    page = tmp_path / "docs" / "page.html"
    page.parent.mkdir()
    body = (
        "<p>Customers who left goods behind get a letter after one night in the dark warehouse.</p>"
    )
    page.write_text(
        f"<html><body>\n<h1>Send reminders by post</h1>\n{body}\n"
        f"<h2>Stop unwanted letters early</h2>\n{body}\n</body></html>\n"
    )
    gold = made(tmp_path, "headings", folder=True)
    assert gold.texts == ("Send reminders by post", "Stop unwanted letters early")
    text = searched(gold, Where(corpus=str(tmp_path))).read("docs/page.html")
    assert "Send reminders" not in text
    assert text.count("Customers who left") == 2


def test_a_changed_file_is_an_error(shop: Path) -> None:
    gold = made(shop, "headings")
    (shop / "docs" / "use.md").write_text("# Other\n\n# Send reminders by post\n")
    with pytest.raises(InputError, match="has changed since the gold set was generated"):
        searched(gold, Where(corpus=str(shop)))


@pytest.mark.together_with("inspect")
def test_a_case_is_shown_with_its_code(
    shop: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "gold.json"
    write(made(shop, "docstrings"), path, format="gold")
    case = next(q for q in read_dataset(path).queries() if q.targets[0].symbol == "remind")
    assert run("inspect", str(path), case.id) == 0
    output = capsys.readouterr().out
    assert "def remind(visitor):" in output
    assert "has no commit" not in output


def test_masked_lines_are_not_carried(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "gold.json"
    write(made(shop, "headings"), path, format="gold")
    with pytest.raises(InputError, match="generate it again at the newer revision"):
        carry_file(path, None, to="HEAD")


@pytest.mark.parametrize("engine", ["bm25", "keyword"])
def test_the_command_and_an_evaluation(
    shop: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    engine: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run("generate", "--repo", str(shop), "--from", "docstrings", "-o", "gold.json") == 0
    output = capsys.readouterr().out
    assert "4 doc comments at " in output
    assert "kind        docstring (4)" in output
    assert "next: karat evaluate gold.json --engine bm25" in output
    assert run("evaluate", "gold.json", "--engine", engine, "--no-wait", "--details") == 0
    out = capsys.readouterr().out
    assert "all queries on the version that they were generated from, their texts masked" in out
    assert "all 4 targets exist" in out
    again = (
        "evaluate",
        "gold.json",
        "--engine",
        engine,
        "--no-wait",
        "--corpus",
        str(shop),
        "--details",
    )
    assert run(*again) == 0
    assert "the texts of the queries masked" in " ".join(capsys.readouterr().out.split())


def test_files_that_cannot_be_read_are_named(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (shop / "scan.raw").write_bytes(b"\0")
    command = ("generate", "--corpus", str(shop), "--from", "headings")
    assert run(*command, "-o", "gold.json") == 0
    assert "note: skipped 1 file: 1 binary (scan.raw)\n" in capsys.readouterr().err
    assert run(*command, "-o", "again.json", "--json") == 0
    assert json.loads(capsys.readouterr().out)["skipped_files"] == {"binary": ["scan.raw"]}


def test_an_external_engine_reads_masked_files(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(made(shop, "docstrings"), tmp_path / "gold.json", format="gold")
    script = tmp_path / "search.py"
    script.write_text(
        "import sys, pathlib, json\n"
        "found = [str(p) for p in sorted(pathlib.Path('.').rglob('*.py'))\n"
        "         if sys.argv[1] in p.read_text()]\n"
        "pathlib.Path(sys.argv[2]).open('a').write(json.dumps(found) + '\\n')\n"
        "print(json.dumps([{'path': 'shop/cart.py'}]))\n"
    )
    seen = tmp_path / "seen.jsonl"
    command = [sys.executable, str(script), "{query}", str(seen)]
    engine = json.dumps({"engine": "command", "command": command})
    assert run("evaluate", "gold.json", "--engine", engine, "--no-wait", "--details") == 0
    rows = [json.loads(line) for line in seen.read_text().splitlines()]
    assert rows
    assert not any(rows), "no file holds the text of a query"


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--from", "docstrings", "--since", "2020-01-01"), "--since is about commits"),
        (("--from", "docstrings", "--split", "dev/test"), "--split is about commits"),
        (("--mask", "queries"), "--mask needs --from"),
        (("--from", "headings", "--corpus", "."), "reads one repository or folder, not 2"),
        (("--from", "headings", "--exclude-pattern", "docs/"), "(dropped: excluded 1)"),
    ],
)
def test_what_does_not_fit(
    shop: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    arguments: tuple[str, ...],
    error: str,
) -> None:
    monkeypatch.chdir(shop)
    assert run("generate", "--repo", str(shop), "-o", "gold.json", *arguments) == 2
    assert error in capsys.readouterr().err


def test_a_configuration_file(shop: Path, tmp_path: Path) -> None:
    path = tmp_path / "benchmark.yaml"
    path.write_text("dataset:\n  corpus: shop\n  from: headings\n  mask: queries\n  limit: 7\n")
    options = read_mining_config(path)
    assert options == {
        "corpus": str(shop),
        "made_from": "headings",
        "mask": "queries",
        "limit": "7",
    }
    out = tmp_path / "gold.json"
    assert run("generate", "--config", str(path), "-o", str(out)) == 0
    assert read_dataset(out).metadata["masked"] == "queries"


def test_an_evaluation_by_a_configuration_file(
    shop: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "benchmark.yaml"
    path.write_text("dataset:\n  repository_path: shop\n  from: docstrings\n")
    options = ("--engine", "bm25", "--no-wait", "--details")
    assert run("evaluate", "--config", str(path), *options) == 0
    out = capsys.readouterr()
    assert "mined 4 cases" in out.err
    assert "the version that they were generated from" in out.out
    path.write_text("dataset:\n  repository_path: shop\n  from: code\n")
    assert run("evaluate", "--config", str(path), "--engine", "bm25", "--no-wait") == 2
    assert "needs a language model; first run karat generate" in capsys.readouterr().err


@pytest.mark.parametrize("lines", [(0, 2), (3, 2), (1, 99)])
def test_targets_are_checked_against_the_files(shop: Path, lines: tuple[int, int]) -> None:
    target = Target("shop/mail.py", 1.0, *lines)
    question = Question("remind visitors", (target,), "how", "python", ("shop/mail.py", 1))
    sample = QuestionSample((question,), FilterWaterfall(1, ()))
    with ExitStack() as stack:
        opened = open_corpus(str(shop), revision="HEAD", stack=stack)
        with pytest.raises(InputError, match="are not in the file, which has 4"):
            question_set(opened, QuestionRecipe("code"), sample)


def test_rules_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("generate", "--from", "headings", "--list-rules") == 0
    listed = capsys.readouterr().out
    assert "repeated        several sections have this heading\n" in listed
    assert "docs-only" not in listed
    assert run("generate", "--from", "code", "--list-rules", "--json") == 0
    assert "many-answers" in json.loads(capsys.readouterr().out)


def test_unknown_settings() -> None:
    with pytest.raises(InputError, match="--from 'poems' is not valid; expected one of"):
        QuestionRecipe("poems")
    with pytest.raises(InputError, match="--mask 'some' is not valid"):
        QuestionRecipe("tests", masked="some")
