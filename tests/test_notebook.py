"""Results in a notebook: one line each, HTML without scripts, frames in and out, keys as typed."""

from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any, NamedTuple

import pytest

import karat
from karat import Answer, Dataset, Hit, Query, Run, Target
from karat.errors import InputError, MissingExtra, UnknownName

GOLD = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q3": {"d": 1.0}}
OLD = {"q1": {"x": 3.0, "a": 2.0, "b": 1.0}, "q2": {"c": 1.0}}
NEW = {"q1": {"a": 2.0, "b": 1.0}, "q2": {"c": 1.0}, "q3": {"d": 0.5}}
TYPED = ["map", "P@5", "nDCG@10"]


@pytest.fixture(scope="module")
def evaluation() -> Any:
    return karat.evaluate(GOLD, OLD, TYPED)


@pytest.fixture(scope="module")
def comparison() -> Any:
    return karat.compare(GOLD, {"old": OLD, "new <b>": NEW}, TYPED)


def test_dir_shows_the_public_names() -> None:
    listed = [name for name in dir(karat) if not name.startswith("__")]
    assert listed == sorted(name for name in karat.__all__ if not name.startswith("__"))


def test_a_result_prints_as_one_line(evaluation: Any, comparison: Any) -> None:
    mean = evaluation["map"]
    assert repr(evaluation) == (
        f"<Evaluation run1: 3 queries, map {mean:.3f}, P@5 0.200, nDCG@10 "
        f"{evaluation['nDCG@10']:.3f}>"
    )
    assert repr(comparison) == (f"<ComparisonResult 3 queries, map: old {mean:.3f}, new <b> 1.000>")
    many = karat.evaluate(GOLD, OLD, ["map", "mrr", "hit@1", "hit@2"], confidence=None)
    assert repr(many).endswith(", ...>")


def test_records_print_as_one_line() -> None:
    gold = Dataset.of([Query("q1", "login", (Target("a"), Target("b")))], name="auth")
    run = Run.of([Answer("q1", (Hit("a"),) * 3)], name="bm25")
    assert repr(gold) == "<Dataset auth: 1 query, 2 targets>"
    assert repr(run) == "<Run bm25: 1 query, 3 hits>"
    contest = karat.compare(GOLD, {"old": OLD, "new": NEW}, TYPED)
    assert repr(contest.comparison) == "<Comparison 2 systems, 3 metrics, 3 queries>"
    assert repr(contest["old"].table) == "<ScoreTable old: 3 queries, ap, precision@5, ndcg@10>"
    corpus = karat.from_texts({"a.md": "# A", "b.md": "# B"}, name="notes")
    assert repr(corpus) == "<Corpus notes: 2 documents>"


def test_names_as_typed_are_keys(evaluation: Any) -> None:
    assert evaluation.keys() == ("map", "P@5", "nDCG@10")
    assert dict(evaluation) == {name: evaluation[name] for name in TYPED}
    assert list(evaluation) == TYPED
    assert evaluation["map"] == evaluation["ap"] == evaluation["MAP"]
    assert evaluation["precision@5"] == evaluation["p@5"]
    assert "map" in evaluation
    assert "mrr" not in evaluation
    with pytest.raises(UnknownName, match=r"'mrr' was not computed; computed: map, P@5, nDCG@10"):
        evaluation["mrr"]


def test_a_single_name_is_one_measure() -> None:
    assert list(karat.evaluate(GOLD, OLD, "RR", confidence=None)) == ["RR"]


def test_measures_of_ir_measures_work_by_their_text() -> None:
    class Measure(NamedTuple):
        """Prints as a measure of ir_measures does."""

        name: str

        def __str__(self) -> str:
            return self.name

    names = ["AP(rel=2)@10", "nDCG(dcg='exp-log2')@10", "Success@1", "RR", "P@5"]
    measures = [Measure(name) for name in names]
    evaluation = karat.evaluate(GOLD, NEW, measures, confidence=None)
    assert list(evaluation) == names
    same = karat.evaluate(GOLD, NEW, ["ap(level=2)@10", "ndcg(gain=exp)@10"], confidence=None)
    assert evaluation[measures[0]] == same["ap(level=2)@10"]
    assert evaluation[measures[1]] == same["ndcg(gain=exp)@10"]


def test_one_query_and_one_measure(evaluation: Any, comparison: Any) -> None:
    assert evaluation.query("q1")["P@5"] == 0.4
    assert evaluation.per_query("P@5") == {"q1": 0.4, "q2": 0.2, "q3": 0.0}
    assert comparison.query("q3")["new <b>"]["map"] == 1.0
    with pytest.raises(UnknownName, match="no query 'q9'; the gold set has 'q1', 'q2', 'q3'"):
        evaluation.query("q9")


def test_a_comparison_is_keyed_by_run(comparison: Any) -> None:
    assert list(comparison) == ["old", "new <b>"]
    interval = comparison["old"].interval("map")
    assert interval == comparison.comparison.mean("old", "ap").interval
    assert dict(comparison)["new <b>"]["map"] == 1.0
    with pytest.raises(UnknownName, match="no run 'x'; compared: old, new <b>"):
        comparison["x"]


def test_the_verdict_has_the_names_as_typed() -> None:
    gold = {f"q{n}": {"a": 1} for n in range(12)}
    runs = {"old": {q: {"x": 2.0, "a": 1.0} for q in gold}, "new": {q: {"a": 1.0} for q in gold}}
    assert "new is better than old: MAP +0.500" in karat.compare(gold, runs, ["MAP"]).verdict


class Page(HTMLParser):
    """Collects tags and texts, and checks that every tag is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.open.append(tag)
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def parsed(html: str) -> Page:
    page = Page()
    page.feed(html)
    assert page.open == []
    return page


def test_html_has_a_leaderboard_and_folded_queries(evaluation: Any, comparison: Any) -> None:
    page = parsed(comparison._repr_html_())
    assert "script" not in page.tags
    assert page.tags.count("details") == 1
    # Sorted by the first measure; hostile names stay text.
    assert page.texts.index("new <b>") < page.texts.index("old")
    assert "1.000 [" in "".join(page.texts)
    assert {"q1", "q2", "q3", "map", "P@5", "nDCG@10"} <= set(page.texts)
    assert "0.200" in parsed(evaluation._repr_html_()).texts


def test_html_marks_the_best_mean_by_the_direction_of_the_measure() -> None:
    gold = Dataset.of([Query("q1", "", (Target("a", 1.0, 1, 9),))], match="lines")
    runs = [
        Run.of([Answer("q1", (Hit("a", 1.0, 1, last),))], name=name)
        for name, last in (("long", 9), ("short", 5))
    ]
    html = karat.compare(gold, runs, ["lines@10"])._repr_html_()
    assert "<b>5.000" in html
    assert "<b>9.000" not in html


def test_a_long_table_is_cut() -> None:
    gold = {f"q{n}": {"a": 1} for n in range(300)}
    html = karat.evaluate(gold, gold, ["mrr"], confidence=None)._repr_html_()
    assert "Scores of 300 queries (first 200)" in html
    assert "<td" in html
    assert "q200" not in html


PER_QUERY = ["run", "query", "measure", "score", "status"]


@pytest.mark.parametrize("package", ["pandas", "polars", "pyarrow"])
def test_frames_have_a_row_per_query_and_per_mean(package: str, comparison: Any) -> None:
    pytest.importorskip(package)
    method = f"to_{package.removeprefix('py')}"
    per_query = getattr(comparison, method)()
    names = per_query.column_names if package == "pyarrow" else list(per_query.columns)
    assert names == PER_QUERY
    assert len(per_query) == 2 * 3 * 3
    summary = getattr(comparison, method)(summary=True)
    assert len(summary) == 2 * 3
    rows = list(rows_of(summary))
    assert rows[3]["run"] == "new <b>"
    assert rows[3]["mean"] == 1.0
    entry = comparison.comparison.difference("old", "new <b>", "ap")
    assert rows[3]["difference"] == entry.difference
    assert rows[3]["p"] == entry.p_corrected
    assert rows[0]["difference"] is None or rows[0]["difference"] != rows[0]["difference"]


def rows_of(frame: Any) -> Iterator[dict[str, Any]]:
    """Yield the rows of a frame of any of the three packages."""
    if hasattr(frame, "to_dicts"):
        yield from frame.to_dicts()
    elif hasattr(frame, "to_pylist"):
        yield from frame.to_pylist()
    else:
        yield from frame.to_dict("records")


@pytest.mark.parametrize(
    ("method", "hint"),
    [("to_pandas", "pip install pandas"), ("to_polars", "[big]"), ("to_arrow", "pyarrow")],
)
def test_a_missing_package_is_named(
    method: str, hint: str, evaluation: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for package in ("pandas", "polars", "pyarrow"):
        monkeypatch.setitem(__import__("sys").modules, package, None)
    with pytest.raises(MissingExtra) as error:
        getattr(evaluation, method)()
    assert hint in str(error.value)
    assert str(error.value).startswith(f"{method}() needs ")


QRELS = [("q1", "a", 2), ("q1", "b", 1), ("q2", "c", 1), ("q3", "d", 1)]
SCORES = [("q1", "x", 3.0), ("q1", "a", 2.0), ("q1", "b", 1.0), ("q2", "c", 1.0)]


def columns(names: tuple[str, ...], rows: list[Any]) -> dict[str, list[Any]]:
    return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))


def pandas_frame(data: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pandas").DataFrame(data)


def polars_frame(data: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars").DataFrame(data)


def lazy_frame(data: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("polars").LazyFrame(data)


def arrow_table(data: dict[str, list[Any]]) -> Any:
    return pytest.importorskip("pyarrow").table(data)


@pytest.mark.parametrize("frame", [pandas_frame, polars_frame, lazy_frame, arrow_table])
@pytest.mark.parametrize(
    ("gold_names", "run_names"),
    [
        (("query_id", "doc_id", "relevance"), ("query_id", "doc_id", "score")),
        (("qid", "docno", "label"), ("qid", "docno", "score")),
        (("q_id", "doc_id", "score"), ("q_id", "doc_id", "score")),
        (("query-id", "corpus-id", "score"), ("Query", "Document", "Similarity")),
    ],
)
def test_frames_are_datasets_and_runs(
    frame: Callable[[dict[str, list[Any]]], Any],
    gold_names: tuple[str, ...],
    run_names: tuple[str, ...],
    evaluation: Any,
) -> None:
    pytest.importorskip("narwhals")
    gold, run = frame(columns(gold_names, QRELS)), frame(columns(run_names, SCORES))
    assert dict(karat.evaluate(gold, run, TYPED, confidence=None)) == dict(evaluation)


def test_a_frame_without_scores_is_ordered_by_rank_or_as_it_is(evaluation: Any) -> None:
    pytest.importorskip("narwhals")
    ranked = [("q2", "c", 0), ("q1", "b", 2), ("q1", "a", 1), ("q1", "x", 0)]
    by_rank = polars_frame(columns(("qid", "docno", "rank"), ranked))
    as_given = polars_frame(columns(("qid", "docno"), [row[:2] for row in SCORES]))
    binary = polars_frame(columns(("qid", "docno"), [row[:2] for row in QRELS]))
    for run in (by_rank, as_given):
        assert karat.evaluate(GOLD, run, "map", confidence=None)["map"] == evaluation["map"]
    assert karat.evaluate(binary, OLD, "map", confidence=None)["map"] == evaluation["map"]


def test_ranked_lists_and_pairs_are_runs(evaluation: Any) -> None:
    lists = {"q1": ["x", "a", "b", "x"], "q2": ("c",)}
    pairs = {"q1": [("x", 3), ("a", 2), ("b", 1)], "q2": {"c": 1.0}}
    for run in (lists, pairs):
        scored = karat.evaluate(GOLD, run, ["map"], confidence=None)  # type: ignore[arg-type]
        assert scored["map"] == evaluation["map"]
    binary = {"q1": ["a", "b"], "q2": ["c"], "q3": ["d"]}
    assert karat.evaluate(binary, lists, ["map"], confidence=None)["map"] == evaluation["map"]


def test_objects_with_to_dict_are_read(evaluation: Any) -> None:
    class Ranx:
        """Qrels and Run of ranx have this method; a Run has a name."""

        name = "bm25"

        def __init__(self, values: dict[str, dict[str, float]]) -> None:
            self.values = values

        def to_dict(self) -> dict[str, dict[str, float]]:
            return self.values

    scored = karat.evaluate(Ranx(GOLD), Ranx(OLD), ["map"], confidence=None)
    assert (scored.name, scored["map"]) == ("bm25", evaluation["map"])


def test_rows_of_ir_measures_are_read(evaluation: Any) -> None:
    class Qrel(NamedTuple):
        query_id: str
        doc_id: str
        relevance: int

    class ScoredDoc(NamedTuple):
        query_id: str
        doc_id: str
        score: float

    gold: Any = [Qrel(*row) for row in QRELS]
    run: Any = (ScoredDoc(*row) for row in SCORES)
    assert karat.evaluate(gold, run, "map", confidence=None)["map"] == evaluation["map"]


@pytest.mark.parametrize(
    ("wrong", "where"),
    [
        (3, "int"),
        (None, "NoneType"),
        ({"q1": 3}, "int of query 'q1'"),
        ({"q1": "a"}, "str of query 'q1'"),
        ({"q1": [3]}, "int of query 'q1'"),
        ([1, 2], "int in a list"),
    ],
)
def test_anything_else_is_an_error_that_says_what_is_accepted(wrong: Any, where: str) -> None:
    with pytest.raises(InputError, match=f"cannot read {where} as a Dataset; expected a path, a "):
        karat.evaluate(wrong, OLD)
    with pytest.raises(InputError, match=r"as a Run; expected .*\{query: \[document, ...\]\}"):
        karat.evaluate(GOLD, wrong)


def test_an_object_whose_dictionary_is_none_is_an_error() -> None:
    class Odd:
        def to_dict(self) -> list[int]:
            return []

    with pytest.raises(InputError, match="cannot read list as a Dataset"):
        karat.evaluate(Odd(), OLD)


def test_frames_that_cannot_be_read_say_why(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("narwhals")
    polars = pytest.importorskip("polars")
    with pytest.raises(InputError, match="has the columns a; expected query_id, doc_id and grade"):
        karat.evaluate(polars.DataFrame({"a": [1]}), OLD)
    text = polars.DataFrame({"qid": ["q1"], "docno": ["a"], "score": ["high"]})
    with pytest.raises(InputError, match="has 'high' in column 'score' for query 'q1'"):
        karat.evaluate(GOLD, text)

    class Strange:
        columns = ()
        collect = None

    with pytest.raises(InputError, match="cannot read Strange: "):
        karat.evaluate(GOLD, Strange())
    monkeypatch.setitem(__import__("sys").modules, "narwhals", None)
    with pytest.raises(MissingExtra, match=r"a data frame needs the extra frames: "):
        karat.evaluate(GOLD, text)
