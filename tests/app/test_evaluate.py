"""Engines are judged on the tree before each change, as if each tree were indexed by itself."""

import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NoReturn

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.app.evaluate import EvaluationResult, evaluate_experiment
from karat.corpus import GitRepository, Trait
from karat.engines.keyword import ripgrep
from karat.engines.spec import build
from karat.errors import EngineError, InputError
from karat.experiments.plan import ExperimentRequest, engine_configurations
from karat.experiments.run import run_experiment
from karat.experiments.store import ExperimentKind, SqlStore, Store
from karat.experiments.target_check import Where
from karat.formats import read_dataset
from karat.model import Dataset, Query, QueryStatus, Target
from karat.model.evaluation import ComparisonResult, Evaluation
from karat.scoring.settings import Confidence, Scoring

Tree = Mapping[str, str]

Ask = Callable[..., EvaluationResult]

SCORING = Scoring(("hit@1", "mrr"))
QUICK = Confidence(draws=99)
PARENT = Where()
NOTES = "# how to keep secrets\n"


def repository(bare: Path, trees: list[Tree]) -> list[str]:
    """Make a bare repository of one branch whose commits hold *trees*, and return their ids."""
    subprocess.run(["git", "init", "--quiet", "--bare", str(bare)], check=True)
    parts = []
    for mark, tree in enumerate(trees, 1):
        parts.append(f"commit refs/heads/main\nmark :{mark}\n")
        parts.append(f"committer A <a@b.c> {1_700_000_000 + mark} +0000\ndata 1\nm\n")
        parts.append(f"from :{mark - 1}\ndeleteall\n" if mark > 1 else "")
        for path, text in tree.items():
            parts.append(f"M 100644 inline {path}\ndata {len(text.encode())}\n{text}\n")
    git = ["git", "-C", str(bare)]
    subprocess.run([*git, "fast-import", "--quiet"], input="".join(parts).encode(), check=True)
    subprocess.run([*git, "symbolic-ref", "HEAD", "refs/heads/main"], check=True)
    listed = subprocess.run([*git, "rev-list", "main"], check=True, capture_output=True, text=True)
    return listed.stdout.split()[::-1]


def case(name: str, text: str, path: str, commits: tuple[str, str]) -> Query:
    before, after = commits
    extra = {"base_commit": before, "commit_hash": after}
    return Query(name, text, (Target(path),), extra=extra)


def asked(
    store: Store,
    gold: Dataset,
    engines: Sequence[str | Mapping[str, object]],
    *,
    where: Where = PARENT,
    k: int = 100,
    seed: int = 0,
) -> EvaluationResult:
    """Return what *engines* find, untimed."""
    request = ExperimentRequest(
        gold=gold,
        configurations=engine_configurations(engines, k=k),
        where=where,
        kind=ExperimentKind.EVALUATE,
        scoring=SCORING,
        timed=0,
        seed=seed,
    )
    return evaluate_experiment(
        gold, run_experiment(request, store), scoring=SCORING, confidence=QUICK
    )


@pytest.fixture
def ask(tmp_path: Path) -> Iterator[Ask]:
    """Return what asks engines, and keeps the answers for the time of the test."""
    with SqlStore(tmp_path / "karat.db") as store:
        yield partial(asked, store)


@pytest.fixture
def gold(tmp_path: Path) -> Dataset:
    """Return two cases: one whose fix brings its words along, one whose file had moved before."""
    trees: list[Tree] = [
        {"auth.py": "def login(user): ...\n", "notes.py": NOTES, "mail.py": "def send(): ...\n"},
        {
            "auth.py": "def login(user):\n    '''Refuse blank secrets: blank is no secret.'''\n",
            "notes.py": NOTES,
            "mail.py": "def send(): ...\n",
        },
        {"src/auth.py": "def login(): ...\n", "src/mail.py": "def send(): ...\n"},
        {"src/auth.py": "def login(): ...\n", "src/mail.py": "def send(twice): ...\n"},
    ]
    path = tmp_path / "project.git"
    commits = repository(path, trees)
    return Dataset.of(
        [
            case("secrets", "refuse blank secrets", "auth.py", (commits[0], commits[1])),
            case("mail", "send mail", "src/mail.py", (commits[2], commits[3])),
        ],
        name="gold",
        metadata={"repository": str(path)},
    )


@pytest.mark.parametrize(
    ("snapshot", "hits", "unresolved", "resolved"),
    [
        # The fix is not there yet: another file has the words.
        ("parent", [0.0, 1.0], 0, None),
        ("child", [1.0, 1.0], 0, None),
        ("head", [0.0, 1.0], 1, 1.0),
        ("base", [0.0, 0.0], 1, 0.0),
    ],
)
def test_each_snapshot(
    gold: Dataset,
    ask: Ask,
    snapshot: str,
    hits: list[float],
    unresolved: int,
    resolved: float | None,
) -> None:
    result = ask(gold, ["bm25"], where=Where(snapshot=snapshot))
    assert isinstance(result.overall, Evaluation)
    assert result.overall.table.columns["hit@1"].tolist() == hits
    assert result.searched.unresolved == unresolved
    if resolved is None:
        assert result.resolved is None
    else:
        assert isinstance(result.resolved, Evaluation)
        assert result.resolved["hit@1"] == resolved
        assert result.resolved.notes.statuses[QueryStatus.UNJUDGED] == 1
    assert result.runs[0].run.metadata["snapshot"] == snapshot


def test_nothing_is_left_of_the_gold_set(gold: Dataset, ask: Ask) -> None:
    gone = Dataset.of(
        [query._replace(targets=(Target("gone.py"),)) for query in gold.queries()],
        metadata=gold.metadata,
    )
    result = ask(gone, ["bm25", "keyword"])
    assert (result.searched.unresolved, result.resolved) == (2, None)
    assert isinstance(result.overall, ComparisonResult)
    assert [one["mrr"] for one in result.overall.evaluations] == [0.0, 0.0]


def test_what_is_kept_with_a_run(gold: Dataset, ask: Ask) -> None:
    result = ask(gold, ["bm25(k1=1.2)"], k=7, seed=3)
    (measured,) = result.runs
    assert measured.name == "bm25(k1=1.2)"
    assert measured.run.metadata == {
        "engine": {"name": "bm25", "options": {"k1": "1.2", "unit": "file"}},
        "options": {"engine": "bm25", "k1": "1.2"},
        "gold": "gold",
        "snapshot": "parent",
        "place": gold.metadata["repository"],
        "candidates": "production",
        "match": "exact",
        "k": 7,
        "threshold": 0.0,
        "seed": 3,
        "ties": "order",
    }
    revisions = {answer.query_id: answer.extra["revision"] for answer in measured.run.answers()}
    assert revisions == {
        query_id: extra["base_commit"]
        for query_id, extra in zip(gold.query_ids, gold.extras, strict=True)
    }


def test_several_engines_are_compared(gold: Dataset, ask: Ask) -> None:
    result = ask(gold, ["bm25", {"engine": "bm25", "unit": "lines"}, "keyword"])
    assert isinstance(result.overall, ComparisonResult)
    assert result.overall.comparison.systems == ("bm25-1", "bm25-2", "keyword")
    assert [measured.name for measured in result.runs] == ["bm25-1", "bm25-2", "keyword"]
    engine = result.runs[1].run.metadata["engine"]
    assert engine == {"name": "bm25", "options": {"unit": "lines"}}
    # The three chunks of the first tree, and the two of the other.
    assert result.runs[0].notes["work"] == {"rows": 5}


def test_line_truth_is_not_collapsed(gold: Dataset, ask: Ask) -> None:
    parts = [
        query._replace(targets=tuple(t._replace(start_line=1, end_line=1) for t in query.targets))
        for query in gold.queries()
    ]
    lines = Dataset.of(parts, match="lines", metadata=gold.metadata)
    options = ask(lines, ["bm25"]).runs[0].run.metadata["engine"]
    assert options == {"name": "bm25", "options": {"unit": "lines"}}


def test_any_gold_set_on_a_folder(tmp_path: Path, ask: Ask) -> None:
    folder = tmp_path / "project"
    (folder / "tests").mkdir(parents=True)
    (folder / "auth.py").write_text("def login(user): ...\n")
    (folder / "tests" / "test_auth.py").write_text("def test_login(): login('user')\n")
    gold = Dataset.of([Query("q", "login test", (Target("tests/test_auth.py"),))])
    result = ask(gold, ["bm25"], where=Where(corpus=str(folder)))
    assert isinstance(result.overall, Evaluation)
    assert result.overall["mrr"] > 0
    assert result.runs[0].run.answer(0).extra == {}
    with pytest.raises(
        InputError, match=r"none of the 1 targets of .* is searched.*; --candidates all"
    ):
        ask(gold, ["bm25"], where=Where(corpus=str(folder), candidates="production"))


def test_a_beir_folder_is_its_documents(tmp_path: Path, ask: Ask) -> None:
    (tmp_path / "qrels").mkdir()
    (tmp_path / "corpus.jsonl").write_text(
        '{"_id": "d1", "text": "how to log in"}\n{"_id": "d2", "text": "how to send mail"}\n'
    )
    (tmp_path / "queries.jsonl").write_text('{"_id": "q", "text": "send a mail"}\n')
    (tmp_path / "qrels" / "test.tsv").write_text("query-id\tcorpus-id\tscore\nq\td2\t1\n")
    gold = read_dataset(tmp_path)
    result = ask(gold, ["bm25"], where=Where(corpus=str(tmp_path)))
    assert isinstance(result.overall, Evaluation)
    assert result.overall["hit@1"] == 1.0


def test_bad_requests_are_told_before_anything_is_searched(gold: Dataset, ask: Ask) -> None:
    textless = Dataset.of([query._replace(text=" ") for query in gold.queries()], name="gold")
    with pytest.raises(InputError, match="no engine to evaluate"):
        ask(gold, [])
    with pytest.raises(InputError, match="gold: no query has a text"):
        ask(textless, ["bm25"])


def test_a_command_searches_each_tree(
    gold: Dataset, ask: Ask, missing: Callable[[str], NoReturn]
) -> None:
    program = ripgrep() or missing("ripgrep")
    command = [program, "--json", "--ignore-case", "--no-config", "--regexp", "{words}", "{root}"]
    engine = {"engine": "command", "name": "rg", "command": command, "output": "rg"}
    (measured,) = ask(gold, [engine]).runs
    answers = {answer.query_id: answer for answer in measured.run.answers()}
    assert [hit.path for hit in answers["secrets"].hits] == ["notes.py"]
    assert [hit.path for hit in answers["mail"].hits] == ["src/mail.py"]
    assert (measured.notes["work"], measured.notes["invalid"]) == ({}, {})


def test_hits_that_make_no_sense_are_counted(gold: Dataset, ask: Ask, tmp_path: Path) -> None:
    script = tmp_path / "search.sh"
    script.write_text('#!/bin/sh\necho \'["notes.py", "nowhere.py"]\'\n')
    script.chmod(0o755)
    engine = {"engine": "command", "name": "odd", "command": [str(script)]}
    alone = ask(gold, [engine])
    assert alone.runs[0].notes["invalid"] == {"not in the corpus": 3}
    assert isinstance(alone.overall, Evaluation)
    assert alone.overall.notes.invalid == {"not in the corpus": 3}
    assert alone.overall.warnings[0].startswith("odd: 75% of its hits are not in the versions")
    assert {extra["accepted"] for extra in alone.runs[0].run.extras} == {0, 1}
    beside = ask(gold, ["keyword", engine]).overall
    assert isinstance(beside, ComparisonResult)
    assert [one.notes.invalid for one in beside.evaluations] == [{}, {"not in the corpus": 3}]


def test_runs_that_fail_are_not_compared(gold: Dataset, ask: Ask) -> None:
    broken = {"engine": "command", "name": "broken", "command": ["sh", "-c", "exit 9"]}
    result = ask(gold, ["bm25", broken])
    assert isinstance(result.overall, Evaluation)
    assert [measured.name for measured in result.runs] == ["bm25"]
    with pytest.raises(EngineError, match="no query was answered; the first error: broken: exit"):
        ask(gold, [broken])


WORDS = ["login", "mail", "user", "send", "blank"]
texts = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join).map("{}\n".format)
trees_of_texts = st.dictionaries(
    st.sampled_from(["a.py", "b.py", "src/c.py", "tests/test_a.py"]), texts, min_size=1
)
histories = st.lists(trees_of_texts, min_size=2, max_size=6)
questions = st.lists(st.sampled_from(WORDS), min_size=1, max_size=3).map(" ".join)


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with TemporaryDirectory() as name:
        yield Path(name)


@pytest.mark.parametrize("engine", ["bm25", "keyword"])
@settings(max_examples=4)
@given(history=histories, words=st.lists(questions, min_size=6, max_size=6))
def test_the_parent_is_searched_as_if_it_were_indexed_alone(
    folder: Path, engine: str, history: list[Tree], words: list[str]
) -> None:
    with TemporaryDirectory(dir=folder) as name:
        path = Path(name) / "project.git"
        # A file that is always there, so that there is something to find.
        commits = repository(path, [{"z.py": "blank\n", **tree} for tree in history])
        steps = list(pairwise(commits))
        cases = [case(str(n), words[n], "z.py", step) for n, step in enumerate(steps)]
        gold = Dataset.of(cases, metadata={"repository": str(path)})
        with SqlStore(Path(name) / "karat.db") as store:
            result = asked(store, gold, [engine], k=3)
        answers = {answer.query_id: answer for answer in result.runs[0].run.answers()}
        with GitRepository(path) as opened:
            for query in cases:
                fresh = build("bm25(unit=file, cache=false)" if engine == "bm25" else engine)
                parent = opened.corpus(str(query.extra["base_commit"]))
                fresh.index(parent.without(Trait.TEST))
                hits = fresh.search(query.text, 1_000)
                files = list(dict.fromkeys(hit.path for hit in hits))[:3]
                expected = [hit for hit in hits if hit.path in files]
                got = [hit for hit in answers[query.id].hits if hit.path in files]
                assert got == expected[: len(got)]
                assert list(dict.fromkeys(hit.path for hit in got)) == files


def test_a_run_says_all_that_it_has_searched(tmp_path: Path) -> None:
    names = ("login", "send", "read")
    trees: list[Tree] = [{f"{name}.py": f"def {name}(): ...\n"} for name in names]
    commits = repository(tmp_path / "history", trees)
    cases = [case("q1", "login", "login.py", (commits[0], commits[1]))]
    cases.append(case("q2", "send", "send.py", (commits[1], commits[2])))
    request = ExperimentRequest(
        gold=Dataset.of(cases, name="mined", match="exact"),
        configurations=engine_configurations(["bm25", "bm25(k1=2)"]),
        where=Where(repositories={"": str(tmp_path / "history")}),
        kind=ExperimentKind.COMPARE,
        timed=1,
    )
    with SqlStore(tmp_path / "karat.db") as store:
        done = run_experiment(request, store)
    # Times were taken on one of the trees.
    for measured in done.measured:
        corpora = measured.notes["corpora"]
        assert isinstance(corpora, list)
        assert len(corpora) == 2
