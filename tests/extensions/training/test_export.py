"""Training data of small corpora: what becomes a positive, a negative and a file."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from karat.engines import Engine
from karat.engines.spec import parse_spec
from karat.errors import EngineError, InputError
from karat.experiments.target_check import Where
from karat.extensions.training.export import (
    LAYOUTS,
    NegativeRules,
    TrainingExport,
    TrainingRequest,
    check_folder,
    collect_examples,
    export_training,
    training_tables,
    without_own_files,
)
from karat.model import Answer, Dataset, Hit, Query, Run, Target

FILES = {
    "login.py": "def login(user, secret):\n    token = sign(user, secret)\n    return token\n",
    "logout.py": "def logout(user, token):\n    forget(user, token)\n    return None\n",
    "cart.py": "def add_to_cart(user, item):\n    cart = open_cart(user)\n    cart.put(item)\n",
    "mail.py": "def send_mail(user, text):\n    box = mailbox(user)\n    box.send(text)\n",
    "page.html": "<p>user login form with user and secret and token</p>\n",
}
FILES["copy_of_login.py"] = FILES["login.py"]
LOGIN = Query("q1", "where does a user login", (Target("login.py"),))
CART = Query("q2", "put an item for the user", (Target("cart.py", 2.0, start_line=2, end_line=3),))


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name, text in FILES.items():
        (folder / name).write_text(text)
    return folder


@pytest.fixture
def request_(corpus: Path) -> TrainingRequest:
    return TrainingRequest(
        gold=Dataset.of([LOGIN, CART], name="gold", match="lines"),
        where=Where(corpus=str(corpus)),
        spec=parse_spec("bm25"),
        rules=NegativeRules(max_score_ratio=0),
    )


def negatives(export: TrainingExport, query: str) -> list[str]:
    examples = [one for part in export.parts.values() for one in part if one.query.id == query]
    return [text.path for one in examples for text in one.negatives]


def test_rows_are_queries_targets_and_hits_that_are_not_targets(request_: TrainingRequest) -> None:
    export = export_training(request_)
    rows = export.rows["train"]
    assert {tuple(row) for row in rows} == {("anchor", "positive", "negative")}
    assert rows[0]["anchor"] == "where does a user login"
    assert rows[0]["positive"] == FILES["login.py"]
    assert rows[0]["negative"] in FILES.values()
    # The copy and the page in another language are hits as well.
    assert set(negatives(export, "q1")) == {"logout.py", "cart.py", "mail.py"}
    assert export.dropped["copy of a positive"] == 1
    assert export.dropped["another language"] >= 1
    assert "login.py" not in negatives(export, "q1")


def test_a_hit_that_was_graded_is_what_its_grade_says(request_: TrainingRequest) -> None:
    targets = (*LOGIN.targets, Target("logout.py", 1.0), Target("page.html", 0.0))
    data = request_.gold.with_queries([LOGIN._replace(targets=targets), CART])
    export = export_training(replace(request_, gold=data, rules=NegativeRules(any_language=True)))
    paths = negatives(export, "q1")
    assert "logout.py" not in paths
    assert "page.html" in paths


LAYOUT_COLUMNS = {
    "triplet": ["anchor", "positive", "negative"],
    "n-tuple": ["anchor", "positive", "negative_1", "negative_2"],
    "pair": ["anchor", "positive"],
    "scored": ["anchor", "text", "score"],
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_columns_of_a_layout(request_: TrainingRequest, layout: str) -> None:
    rules = NegativeRules(count=2, max_score_ratio=0)
    export = export_training(replace(request_, layout=layout, rules=rules))
    rows = export.rows["train"]
    assert [list(row) for row in rows] == [LAYOUT_COLUMNS[layout]] * len(rows)
    numbers = {"triplet": 4, "n-tuple": 2, "pair": 2, "scored": 6}
    assert len(rows) == numbers[layout]
    if layout == "scored":
        scores = {(row["text"], row["anchor"]): row["score"] for row in rows}
        assert scores[FILES["login.py"], LOGIN.text] == 0.5
        assert scores[FILES["cart.py"], CART.text] == 1.0
        assert set(scores.values()) == {0.0, 0.5, 1.0}


def test_an_unknown_layout_is_an_input_error(request_: TrainingRequest) -> None:
    with pytest.raises(
        InputError, match="layout 'pairs' is not valid; expected one of: triplet, n-tuple, pair"
    ):
        export_training(replace(request_, layout="pairs"))


def test_queries_with_too_few_negatives_are_counted(request_: TrainingRequest) -> None:
    rules = NegativeRules(count=9, max_score_ratio=0)
    with pytest.raises(InputError, match=r"2 queries give no training row \(2 fewer than 9"):
        export_training(replace(request_, layout="n-tuple", rules=rules))


def test_a_negative_scores_less_than_the_positive(request_: TrainingRequest) -> None:
    strict = export_training(replace(request_, rules=NegativeRules(max_score_ratio=0.95)))
    for part in strict.parts["train"]:
        best = max(text.score for text in part.positives)
        assert all(text.score <= 0.95 * best for text in part.negatives)


def test_a_query_whose_positive_is_not_retrieved_has_no_negatives(
    request_: TrainingRequest,
) -> None:
    lost = Query("q3", "user and secret of the form", (Target("mail.py"),))
    data = request_.gold.with_queries([LOGIN, lost])
    ranked = replace(request_, gold=data, rules=NegativeRules(depth=1, any_language=True))
    assert collect_examples(ranked).examples[1].negatives == ()
    with pytest.raises(InputError, match="1 positive not in the first 1 hits"):
        export_training(ranked)
    every = replace(ranked, rules=NegativeRules(depth=2, max_score_ratio=0, any_language=True))
    assert collect_examples(every).examples[1].negatives


class Unsteady(Engine):
    """A search that fails on queries with a word; *broken* is that word."""

    name = "unsteady"
    broken = "item"

    def index(self, corpus: object) -> None:
        """Index nothing."""

    def search(self, query: str, k: int) -> list[Hit]:
        """Return three files, or fail."""
        if self.broken in query:
            raise EngineError("no route to the index")
        return [Hit("login.py", 3.0), Hit("mail.py", 2.0), Hit("cart.py", 1.0)][:k]


def test_an_engine_that_fails_on_a_query_costs_that_query(
    request_: TrainingRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("karat.extensions.training.export.build", lambda spec: Unsteady())
    export = export_training(request_)
    assert [one.query.id for one in export.parts["train"]] == ["q1"]
    assert export.lost == {"engine failed": 1}
    assert export.failure == "no route to the index"
    monkeypatch.setattr(Unsteady, "broken", "user")
    with pytest.raises(EngineError, match="every query failed; the first: no route to the index"):
        export_training(request_)


def test_hits_may_come_from_a_run(request_: TrainingRequest) -> None:
    hits = (
        Hit("login.py", 9.0),
        Hit("mail.py", 5.0, 1, 2),
        Hit("gone.py", 4.0),
        Hit("cart.py", 3.0),
    )
    run = Run.of([Answer("q1", hits), Answer("other", hits)], name="mine")
    export = export_training(replace(request_, spec=None, run=run))
    (example,) = export.parts["train"]
    assert [text.path for text in example.negatives] == ["mail.py", "cart.py"]
    assert example.negatives[0].text == "".join(FILES["mail.py"].splitlines(keepends=True)[:2])
    assert example.negatives[1].text == FILES["cart.py"]
    assert export.engine == "mine"
    assert export.lost == {"not in the run": 1}
    with pytest.raises(InputError, match="run answers none of the queries of gold"):
        export_training(replace(request_, run=Run.of([Answer("x", hits)])))


def test_only_line_feeds_end_the_lines_of_a_hit(request_: TrainingRequest, corpus: Path) -> None:
    lines = [
        "def post(user):\n",
        "    # one\u2028two\n",
        "\x0c\n",
        "    letter = write(user, stamp)\n",
        "    end()\n",
    ]
    (corpus / "post.py").write_text("".join(lines))
    run = Run.of([Answer("q1", (Hit("login.py", 9.0), Hit("post.py", 5.0, 2, 4)))], name="mine")
    (example,) = collect_examples(replace(request_, spec=None, run=run)).examples
    assert [text.text for text in example.negatives] == ["".join(lines[1:4])]


def test_positives_are_ordered_by_grade_then_by_rank(request_: TrainingRequest) -> None:
    paths = {"cart.py": 1.0, "login.py": 1.0, "logout.py": 2.0, "mail.py": 1.0}
    targets = tuple(Target(path, grade) for path, grade in paths.items())
    data = request_.gold.with_queries([LOGIN._replace(targets=targets)])
    ranked = ("page.html", "mail.py", "login.py", "logout.py")
    hits = tuple(Hit(path, 9.0 - rank) for rank, path in enumerate(ranked))
    run = Run.of([Answer("q1", hits)], name="mine")
    asked = replace(request_, gold=data, spec=None, run=run, positives=3)
    (example,) = collect_examples(asked).examples
    positives = [(text.path, text.rank) for text in example.positives]
    assert positives == [("logout.py", 4), ("mail.py", 2), ("login.py", 3)]
    assert [text.path for text in example.others] == ["cart.py"]


def test_a_header_comes_before_each_text(request_: TrainingRequest) -> None:
    rows = export_training(replace(request_, headers=True)).rows["train"]
    assert str(rows[0]["positive"]).startswith("login.py\nlogin\ndef login(")


def test_a_symbol_is_the_chunk_that_defines_it(request_: TrainingRequest, corpus: Path) -> None:
    body = "".join(f"    step_{number} = run(user, {number})\n" for number in range(80))
    (corpus / "two.py").write_text(f"def first(user):\n{body}\n\ndef second(user):\n{body}")
    query = Query("q", "second step", (Target("two.py", symbol="second"),))
    data = Dataset.of([query], match="symbol")
    (example,) = collect_examples(replace(request_, gold=data, positives=1)).examples
    assert "def second" in example.positives[0].text
    assert "def first" not in example.positives[0].text


def test_no_negative_is_a_copy_of_a_target_that_is_not_exported(
    request_: TrainingRequest,
) -> None:
    targets = (Target("cart.py", 2.0), Target("login.py", 1.0))
    data = request_.gold.with_queries([LOGIN._replace(targets=targets)])
    export = export_training(replace(request_, gold=data, positives=1))
    (example,) = export.parts["train"]
    assert [text.path for text in example.positives] == ["cart.py"]
    assert [text.path for text in example.others] == ["login.py"]
    assert "copy_of_login.py" not in negatives(export, "q1")


def test_a_missing_target_is_counted(request_: TrainingRequest) -> None:
    gone = Query("q3", "send a mail", (Target("gone.py"),))
    unresolved = Query("q4", "send a mail now", (Target("", symbol="send_mail"),))
    data = request_.gold.with_queries([LOGIN, gone, unresolved])
    export = export_training(replace(request_, gold=data))
    assert export.lost == {"target text not found": 2}


def read(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_the_folder_has_rows_sources_recipe_and_card(
    request_: TrainingRequest, tmp_path: Path
) -> None:
    export = export_training(request_)
    folder = tmp_path / "data"
    files = export.write(folder)
    assert sorted(file.name for file in files) == sorted(path.name for path in folder.iterdir())
    assert read(folder / "train.jsonl") == list(export.rows["train"])
    first = read(folder / "sources.jsonl")[0]
    assert (first["part"], first["query_id"]) == ("train", "q1")
    assert first["positives"][0]["place"] == "login.py:1-3"  # type: ignore[index]
    recipe = json.loads((folder / "dataset_info.json").read_text(encoding="utf-8"))
    assert recipe["parts"]["train"]["rows"] == len(export.rows["train"])
    assert recipe["engine"]["name"] == "bm25"
    card = (folder / "README.md").read_text(encoding="utf-8")
    assert card.startswith("---\nconfigs:\n")
    assert "  - split: train\n    path: train.jsonl\n" in card
    assert "licences apply" in card
    assert str(tmp_path) not in "".join(file.read_text(encoding="utf-8") for file in files)


def test_rows_are_what_the_library_datasets_reads(
    request_: TrainingRequest, tmp_path: Path
) -> None:
    """Every row has the same columns, in order, and only texts: the library infers them."""
    export_training(request_).write(tmp_path / "data")
    file = tmp_path / "data" / "train.jsonl"
    rows = read(file)
    if find_spec("datasets"):  # no requirement of ours installs it
        library = import_module("datasets")
        loaded = library.load_dataset("json", data_files=str(file), cache_dir=str(tmp_path / "c"))
        assert loaded["train"].to_list() == rows
    assert {tuple((key, type(value)) for key, value in row.items()) for row in rows} == {
        (("anchor", str), ("positive", str), ("negative", str))
    }


def test_other_files_are_not_overwritten(request_: TrainingRequest, tmp_path: Path) -> None:
    folder = tmp_path / "data"
    check_folder(folder, force=False)
    export_training(replace(request_, layout="pair")).write(folder)
    with pytest.raises(InputError, match="holds an earlier export; --force replaces it"):
        check_folder(folder, force=False)
    check_folder(folder, force=True)
    (folder / "dataset_info.json").unlink()
    with pytest.raises(InputError, match="is not empty; expected a new folder"):
        check_folder(folder, force=True)


VERBS: Mapping[str, tuple[str, ...]] = {
    "login.py": ("hash", "salt", "sign", "seal"),
    "cart.py": ("drop", "push", "keep", "pull"),
    "mail.py": ("post", "send", "stamp", "ship"),
}
MESSAGES = {
    "login.py": (
        "Salt the secret of visitors before it is stored",
        "Sign tokens so that visitors cannot forge the owner",
        "Seal cookies of visitors against theft on open networks",
    ),
    "cart.py": (
        "Push items of visitors into an older basket",
        "Keep the basket when visitors reload a page",
        "Pull prices for visitors from the nearest warehouse",
    ),
    "mail.py": (
        "Send letters to visitors in the order of arrival",
        "Stamp messages with the language that visitors prefer",
        "Ship a reminder to visitors after seven quiet days",
    ),
}


def module(path: str, verb: str) -> str:
    """Return a module; versions of a file share less than COPY of their words."""
    name = path.removesuffix(".py")
    steps = "".join(f"    {verb}_{name}_{step} = {verb}(value, {step})\n" for step in range(4))
    return f"def {name}(visitors):\n{steps}    return {verb}\n"


@pytest.fixture
def mined(tmp_path: Path, git: Callable[..., str]) -> Dataset:
    """Return a query for each commit of a history in which every file changes three times.

    The commits are an hour apart, and a query is its commit's message, as in a mined gold set.
    """
    repository = tmp_path / "shop"
    repository.mkdir()
    git(repository, "init", "--quiet")
    for path, verbs in VERBS.items():
        (repository / path).write_text(module(path, verbs[0]))
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "-m", "Start")
    queries: list[Query] = []
    for version in range(1, 4):
        for path, verbs in VERBS.items():
            base = git(repository, "rev-parse", "HEAD")
            (repository / path).write_text(module(path, verbs[version]))
            message = MESSAGES[path][version - 1]
            git(repository, "commit", "--quiet", "-am", message)
            commit = git(repository, "rev-parse", "HEAD")
            extra = {
                "base_commit": base,
                "commit_hash": commit,
                "timestamp": f"2024-05-01T{len(queries):02}:00:00Z",
            }
            text = message[0].lower() + message[1:]
            queries.append(Query(commit[:12], text, (Target(path, 2),), extra=extra))
    return Dataset.of(queries, name="shop", match="exact", metadata={"repository": str(repository)})


@pytest.fixture
def mined_request(mined: Dataset) -> TrainingRequest:
    rules = NegativeRules(max_score_ratio=0)
    return TrainingRequest(gold=mined, where=Where(), spec=parse_spec("bm25"), rules=rules)


def test_texts_are_those_before_the_change(mined_request: TrainingRequest) -> None:
    export = export_training(mined_request)
    by_query = {one.query.text: one for one in export.parts["train"]}
    assert len(by_query) == 9
    example = by_query["push items of visitors into an older basket"]
    assert [text.text for text in example.positives] == [module("cart.py", "drop")]
    # At that commit, login.py has changed already and mail.py has not.
    texts = {text.path: text.text for text in example.negatives}
    assert texts == {"login.py": module("login.py", "salt"), "mail.py": module("mail.py", "post")}


def test_no_target_of_a_later_part_is_in_an_earlier_one(mined_request: TrainingRequest) -> None:
    split = replace(mined_request, split=("train", "dev", "test"), held_out=0.5)
    export = export_training(split)
    times = {
        name: [str(one.query.extra["timestamp"]) for one in part]
        for name, part in export.parts.items()
    }
    assert max(times["train"]) < min(times["dev"]) <= max(times["dev"]) < min(times["test"])
    names = list(export.parts)
    for number, name in enumerate(names):
        later = [one for other in names[number + 1 :] for one in export.parts[other]]
        targets = {text.text for one in later for text in one.positives}
        used = {
            text.text for one in export.parts[name] for text in (*one.positives, *one.negatives)
        }
        assert not targets & used
        assert not {one.commit for one in later} & {one.commit for one in export.parts[name]}
    # Without the rule it would not hold: neighbours in time search the same files.
    assert sum(shared.negatives for shared in export.between.values()) > 0
    assert export.to_json()["split"] == {"by": "time", "held_out": 0.5}


def test_a_split_that_cannot_be_made_is_reported_before_the_search(
    request_: TrainingRequest,
) -> None:
    broken = replace(request_, spec=parse_spec("command(command=false)"), split=("train", "dev"))
    with pytest.raises(InputError, match="query 'q1' has no timestamp"):
        export_training(broken)


def test_files_of_the_export_are_not_searched(request_: TrainingRequest, corpus: Path) -> None:
    where = without_own_files(request_.where, str(corpus / "mail.py"), str(corpus.parent / "x.py"))
    assert where.exclude == ("/mail.py",)
    assert "mail.py" not in negatives(export_training(replace(request_, where=where)), "q1")
    assert without_own_files(Where(), "gold.json") == Where()


def test_what_a_test_set_shares_is_dropped_unless_allowed(mined_request: TrainingRequest) -> None:
    queries = list(mined_request.gold.queries())
    renamed = queries[0]._replace(id="renamed")
    test_set = replace(mined_request.gold.with_queries([renamed]), name="benchmark")
    asked = replace(mined_request, test_sets=(test_set,))
    export = export_training(asked)
    assert queries[0].id not in {one.query.id for one in export.parts["train"]}
    (check,) = export.checks
    assert check.unchecked == ""
    assert check.shared.queries["same query"] == (queries[0].id,)
    assert check.shared.queries["same commit"] == (queries[0].id,)
    assert check.shared.queries["same target text"] == (queries[0].id,)
    assert export.lost["shared with a test set"] == 1
    shared = training_tables(export)[-1]
    assert shared.title == "Shared with held-out data"
    assert [column.title for column in shared.columns] == ["data", "reason", "count", "outcome"]
    allowed = export_training(replace(asked, allow_contamination=True))
    assert queries[0].id in {one.query.id for one in allowed.parts["train"]}
    assert allowed.checks[0].shared == export.checks[0].shared


def test_a_test_set_whose_texts_cannot_be_read_is_reported(
    mined_request: TrainingRequest, tmp_path: Path
) -> None:
    (first, *_) = mined_request.gold.queries()
    elsewhere = Dataset.of(
        [Query("x", first.text, (Target("a.py"),), extra={"commit_hash": "f" * 40})],
        name="benchmark",
        metadata={"repository": str(tmp_path / "gone")},
    )
    export = export_training(replace(mined_request, test_sets=(elsewhere,)))
    (check,) = export.checks
    assert "gone" in check.unchecked
    assert check.shared.queries["same query"] == (first.id,)


def test_nothing_left_says_why(mined_request: TrainingRequest) -> None:
    same = replace(mined_request, test_sets=(mined_request.gold,))
    with pytest.raises(
        InputError,
        match=r"9 queries give no training row \(9 shared with a test set\); use another",
    ):
        export_training(same)
    rules = NegativeRules(count=99)
    with pytest.raises(InputError, match="a larger --depth, --max-score-ratio 0 or --layout pair"):
        export_training(replace(mined_request, layout="n-tuple", rules=rules))
