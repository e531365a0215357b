"""Run any engine from Python: specs, files, functions, engines and retrievers."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import karat
from karat.cli.commands.evaluate import command
from karat.errors import EngineError, InputError
from karat.model import Dataset, Hit, Outcome, Query, Target

TEXTS = {"auth.py": "def login(user): pass", "cart.py": "def checkout(cart): pass"}
QUERIES = {"q1": "login of a user", "q2": "checkout a cart"}
GOLD = Dataset.of(
    [
        Query("q1", QUERIES["q1"], (Target("auth.py"),)),
        Query("q2", QUERIES["q2"], (Target("cart.py"),)),
    ],
    name="shop",
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shop = tmp_path / "shop"
    shop.mkdir()
    for name, text in TEXTS.items():
        (shop / name).write_text(text, encoding="utf-8")
    return shop


def first_paths(run: karat.Run) -> list[str]:
    return [answer.hits[0].path if answer.hits else "" for answer in run.answers()]


def test_an_engine_is_named_with_its_options(folder: Path) -> None:
    corpora: list[Any] = [TEXTS, folder, str(folder), karat.from_texts(TEXTS)]
    for corpus in corpora:
        run = karat.run(GOLD, "bm25(k1=1.5)", corpus=corpus, name="mine")
        assert (run.name, first_paths(run)) == ("mine", ["auth.py", "cart.py"])
        assert run.metadata["k"] == 100
        assert all(latency > 0 for latency in run.latencies_ns)
    assert karat.evaluate(GOLD, run, "RR", confidence=None)["RR"] == 1.0


EQUAL = [("auth.py", 1), ("zoo.py", 1), ("cart.py", 1)]


def test_the_order_of_the_answer_is_the_ranking() -> None:
    run = karat.run(QUERIES, lambda _query, _k: EQUAL)
    assert karat.evaluate(GOLD, run, "mrr", confidence=None)["mrr"] == (1 + 1 / 3) / 2
    by_id = karat.evaluate(GOLD, run, "mrr", ties="trec10", confidence=None)
    assert by_id["mrr"] == (1 / 3 + 1 / 2) / 2
    # Distances: the best hit has the lowest number.
    near = karat.run(QUERIES, lambda _query, _k: [("auth.py", 0.1), ("cart.py", 0.7)])
    assert karat.evaluate(GOLD, near, "mrr", confidence=None)["mrr"] == (1 + 1 / 2) / 2
    assert [hit.score for hit in near.answer(0).hits] == [1.0, 0.5]


def test_a_dictionary_of_scores_is_ordered_by_score() -> None:
    run = karat.run(QUERIES, lambda _query, _k: {"cart.py": 0.5, "x": float("nan"), "auth.py": 2.0})
    assert [hit.path for hit in run.answer(0).hits] == ["auth.py", "cart.py", "x"]


def test_an_engine_is_described_in_a_file(tmp_path: Path) -> None:
    path = tmp_path / "engine.yaml"
    path.write_text("engine: bm25\nk1: 1.1\n", encoding="utf-8")
    assert first_paths(karat.run(GOLD, path, corpus=TEXTS, k=1)) == ["auth.py", "cart.py"]
    assert first_paths(karat.run(GOLD, {"engine": "keyword"}, corpus=TEXTS)) == [
        "auth.py",
        "cart.py",
    ]


def test_a_dataset_may_be_a_file_or_texts_by_id(tmp_path: Path) -> None:
    from karat.formats import write

    path = tmp_path / "gold.json"
    write(GOLD, path)
    for dataset in (path, QUERIES):
        assert first_paths(karat.run(dataset, "bm25", corpus=TEXTS)) == ["auth.py", "cart.py"]


def test_a_function_needs_no_corpus() -> None:
    run = karat.run(GOLD, lambda query, k: ["auth.py"], name="mine")
    assert karat.evaluate(GOLD, run, "RR", confidence=None)["RR"] == 0.5


def test_absolute_paths_become_relative_to_the_corpus(folder: Path) -> None:
    class Retriever:
        def invoke(self, query: str) -> list[dict[str, str]]:
            return [{"source": str(folder / "auth.py")}, {"source": "/elsewhere/x.py"}]

    run = karat.run(GOLD, Retriever(), corpus=folder)
    assert [hit.path for hit in run.answer(0).hits] == ["auth.py", "/elsewhere/x.py"]


class Native:
    """An engine of Karat's own protocol that closes and is watched."""

    name = "native"
    thread_safe = False

    def __init__(self) -> None:
        self.closed = False
        self.indexed = 0

    def index(self, corpus: Any) -> None:
        self.indexed += len(corpus)

    def search(self, query: str, k: int) -> list[Hit]:
        return [Hit("cart.py", 1.0)]

    def close(self) -> None:
        self.closed = True


def test_an_engine_with_index_and_search_is_closed() -> None:
    engine = Native()
    run = karat.run(GOLD, engine, corpus=TEXTS)
    assert first_paths(run) == ["cart.py", "cart.py"]
    assert (engine.indexed, engine.closed, run.name) == (2, True, "native")


def test_a_query_that_fails_is_an_error_and_all_of_them_stop_the_run() -> None:
    def search(query: str, k: int) -> list[str]:
        if "cart" in query:
            raise ValueError("no cart")
        return ["auth.py"]

    run = karat.run(GOLD, search)
    assert [answer.outcome for answer in run.answers()] == [Outcome.ANSWERED, Outcome.ERROR]
    assert run.answer(1).extra["error"] == "search: ValueError: no cart"
    with pytest.raises(EngineError, match="every query failed; the first: search: ValueError"):
        karat.run({"q2": "cart"}, search)


def test_progress_is_printed_or_reported(capsys: pytest.CaptureFixture[str]) -> None:
    karat.run(GOLD, "bm25", corpus=TEXTS, progress=True)
    errors = capsys.readouterr().err
    assert "bm25: 0 of 2" in errors
    assert errors.endswith("\rbm25: 2 of 2\n")
    seen: list[tuple[int, int]] = []
    karat.run(GOLD, lambda query: [], progress=lambda done, total: seen.append((done, total)))
    assert seen == [(0, 2), (1, 2), (2, 2)]


def test_a_mined_dataset_is_searched_before_each_change(
    tmp_path: Path, git: Callable[..., str]
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git(project, "init", "--quiet")
    commits = []
    for name, text in TEXTS.items():
        (project / name).write_text(text, encoding="utf-8")
        git(project, "add", ".")
        git(project, "commit", "--quiet", "-m", name)
        commits.append(git(project, "rev-parse", "HEAD").strip())
    gold = Dataset.of(
        [
            query._replace(extra={"base_commit": commit, "commit_hash": commits[-1]})
            for query, commit in zip(GOLD.queries(), commits, strict=True)
        ],
        metadata={"repository": str(project)},
    )
    run = karat.run(gold, "bm25")
    assert first_paths(run) == ["auth.py", "cart.py"]
    # The file of the second query does not exist before the second commit.
    earlier = [query._replace(extra={"base_commit": commits[0]}) for query in gold.queries()]
    with pytest.warns(UserWarning, match=r"^targets: 1 of 2 targets \(50.0%\) does not exist"):
        run = karat.run(gold.with_queries(earlier), "bm25")
    assert "cart.py" not in first_paths(run)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((GOLD, "bm25"), {}), "bm25 needs something to search: corpus="),
        (((GOLD, "bm52"), {"corpus": TEXTS}), "no engine named 'bm52'; did you mean 'bm25'"),
        (((GOLD, 3), {"corpus": TEXTS}), "int is not an engine; expected an engine's name"),
        (((GOLD, Native), {"corpus": TEXTS}), "Native is a class; expected an object"),
        (((GOLD, "bm25"), {"corpus": TEXTS, "k": 0}), "k is 0; expected 1 or more"),
        (((Dataset.of([Query("q1", "")]), "bm25"), {"corpus": TEXTS}), "1 of 1 queries have no"),
    ],
)
def test_wrong_usage_is_explained(arguments: Any, message: str) -> None:
    positional, named = arguments
    with pytest.raises(InputError, match=message.replace("(", r"\(")):
        karat.run(*positional, **named)


@pytest.fixture
def mined(tmp_path: Path, git: Callable[..., str]) -> Path:
    """Return a mined gold set whose targets are code, in a repository that also has prose."""
    from karat.formats import write

    project = tmp_path / "project"
    (project / "docs").mkdir(parents=True)
    git(project, "init", "--quiet")
    for name, word in (("auth.py", "user"), ("cart.py", "cart")):
        (project / name).write_text(f"left = 1\nright = {word}\n", encoding="utf-8")
    for query_id, text in QUERIES.items():
        (project / "docs" / f"{query_id}.md").write_text(f"# {text}\n\n{text}\n", encoding="utf-8")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "-m", "first")
    commit = git(project, "rev-parse", "HEAD").strip()
    queries = [query._replace(extra={"base_commit": commit}) for query in GOLD.queries()]
    path = tmp_path / "gold.json"
    write(Dataset.of(queries, name="shop", metadata={"repository": str(project)}), path)
    return path


@pytest.mark.parametrize(
    ("selection", "mrr"),
    [
        ({}, 0.75),
        ({"kind": "code"}, 1.0),
        ({"kind": "all"}, 0.75),
        ({"kind": "all", "exclude": ["docs/q1*"]}, 0.75),
        ({"kind": "all", "include": ["*.py"]}, 1.0),
    ],
)
def test_a_run_has_the_scores_of_the_command(
    selection: dict[str, Any], mrr: float, mined: Path, tmp_path: Path
) -> None:
    options = [
        part
        for name, value in selection.items()
        for each in ([value] if isinstance(value, str) else value)
        for part in (f"--{name}", each)
    ]
    store = f"sqlite:///{tmp_path}/karat.db"
    arguments = [str(mined), "-e", "bm25", "-m", "mrr,ndcg@10", "--json", "--store", store]
    result = CliRunner().invoke(command, [*arguments, *options], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    metrics = json.loads(result.stdout)["run"]["metrics"]
    evaluation = karat.evaluate(
        str(mined), karat.run(mined, "bm25", **selection), ["mrr", "ndcg@10"], confidence=None
    )
    assert {name: metrics[name]["mean"] for name in evaluation} == pytest.approx(dict(evaluation))
    assert evaluation["mrr"] == mrr


@pytest.mark.filterwarnings("ignore:targets")
def test_the_kind_of_the_gold_set_is_searched_in_any_corpus(folder: Path) -> None:
    (folder / "guide.md").write_text("login of a user, checkout a cart", encoding="utf-8")
    texts = {**TEXTS, "guide.md": "login of a user, checkout a cart"}
    corpora: list[Any] = [folder, texts, karat.from_texts(texts)]
    gold = Dataset.of(GOLD.queries(), metadata={"kind": "code"})
    for corpus in corpora:
        paths = {
            kind: {hit.path for answer in run.answers() for hit in answer.hits}
            for kind in (None, "all", "docs")
            for run in [karat.run(gold, "bm25", corpus=corpus, kind=kind)]
        }
        assert paths == {None: set(TEXTS), "all": set(texts), "docs": {"guide.md"}}
        only = karat.run(GOLD, "bm25", corpus=corpus, kind="all", include="*.md")
        assert first_paths(only) == ["guide.md", "guide.md"]
    with pytest.raises(InputError, match="kind 'prose' is not valid"):
        karat.run(GOLD, "bm25", corpus=texts, kind="prose")
    with pytest.raises(InputError, match="selects none of the 2 documents"):
        karat.run(GOLD, "bm25", corpus=TEXTS, kind="docs")


def test_a_function_on_a_mined_set_is_warned_about(mined: Path, folder: Path) -> None:
    class Retriever:
        def invoke(self, query: str) -> list[dict[str, str]]:
            return [{"source": "auth.py"}]

    text = "searches its own files, not the version before each change of a mined gold set; use an"
    for noun, engine in (("function", lambda query: ["auth.py"]), ("retriever", Retriever())):
        with pytest.warns(UserWarning, match=f"^a {noun} {text} engine file") as caught:
            karat.run(mined, engine)
        # It points at the line above.
        assert [each.filename for each in caught] == [__file__]
        # Other warnings would be errors.
        karat.run(mined, engine, corpus=folder)
    carried = karat.load(mined)
    assert isinstance(carried, Dataset)
    metadata = {**carried.metadata, "carried_to": "f" * 40}
    karat.run(replace(carried, metadata=metadata), lambda query: ["auth.py"])
    karat.run(mined, "bm25")
    karat.run(mined, Native())


def test_targets_that_are_not_in_the_corpus_are_reported_as_by_the_command(
    mined: Path, folder: Path, tmp_path: Path
) -> None:
    (folder / "cart.py").unlink()
    with pytest.warns(UserWarning, match="^targets: ") as caught:
        karat.run(mined, "bm25", corpus=folder)
    assert [each.filename for each in caught] == [__file__]
    (text,) = (str(each.message) for each in caught)
    assert f"1 of 2 targets (50.0%) does not exist in {folder} (1 query with" in text
    store = f"sqlite:///{tmp_path}/karat.db"
    arguments = [str(mined), "-e", "bm25", "--corpus", str(folder), "--store", store, "--details"]
    result = CliRunner().invoke(command, arguments, catch_exceptions=False)
    assert text in " ".join(result.output.split())
    with pytest.warns(UserWarning, match=r"2 of 2 targets \(100.0%\) do not exist"):
        karat.run(mined, "bm25", corpus={"src/auth.py": "login"})
