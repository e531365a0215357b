"""Datasets and runs that a format says it can hold, and a trip through a file of the format."""

import string
from pathlib import Path
from typing import NamedTuple

import pytest
from hypothesis import strategies as st

import karat
from karat.errors import InputError
from karat.formats import FORMATS, Format, read, read_run, write
from karat.formats.base import FEATURES, features, losses
from karat.model import Answer, Dataset, Hit, Outcome, Query, Run, Target

SAFE = st.text(string.ascii_letters + string.digits + "/._-:#é漢", min_size=1, max_size=8)
IDS = SAFE.filter(lambda name: not name.startswith("#"))
# Anything a person could type, and what spreadsheets, YAML and JSON are known to trip over.
TEXTS = st.one_of(
    st.text(st.characters(codec="utf-8"), min_size=1, max_size=12).filter(str.strip),
    st.sampled_from(
        ["no", "012", "1:30", "~", "null", "=1+2", "'=1", "a,b", 'say "x"', "x\r\ny", "- a", "#x"]
    ),
)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**60), 2**60)
    | st.text(string.printable, max_size=5),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(SAFE, inner, max_size=2),
    max_leaves=4,
)


class Grades(NamedTuple):
    """A grade and the features that a format needs for it."""

    grade: float
    needs: frozenset[str]


GRADES = [
    Grades(1, frozenset()),
    Grades(2, frozenset({"grades"})),
    Grades(0, frozenset({"zeros"})),
    Grades(3, frozenset({"grades", "levels"})),
    Grades(7, frozenset({"grades", "levels", "high"})),
    Grades(0.25, frozenset({"grades", "levels", "fractions"})),
    Grades(-1, frozenset({"negatives"})),
]


@st.composite
def datasets(draw: st.DrawFn, name: str) -> Dataset:
    """Return a dataset that the format called *name* says it can hold."""
    target = FORMATS.get(name)
    keeps = target.keeps
    grades = [item.grade for item in GRADES if item.needs <= keeps]
    lines = st.tuples(st.integers(1, 99), st.integers(0, 9)).map(lambda p: (p[0], sum(p)))
    spans = [lines] if "lines" in keeps else []
    spans += [st.just((0, 0))] if "files" in keeps else []
    refs = ["path", "uri", "document_id", "file_name"] if "refs" in keeps else ["path"]
    paths = IDS if name.startswith("trec") else SAFE

    def target_of(path: str, symbol: str = "") -> st.SearchStrategy[Target]:
        return st.builds(
            lambda grade, span, ref: Target(path, grade, span[0], span[1], symbol, ref),
            st.sampled_from(grades),
            st.one_of(spans),
            st.sampled_from(refs),
        )

    queries = []
    for query_id in draw(st.lists(IDS, min_size=1, max_size=3, unique=True)):
        few = 0 if "bare" in keeps else 1
        names = draw(st.lists(paths, min_size=few, max_size=3, unique=True))
        targets = [draw(target_of(path)) for path in names]
        if name == "semble":  # its two lists have an order between them
            targets.sort(key=lambda item: -item.grade)
        if "pathless" in keeps:
            symbols = draw(st.lists(SAFE, max_size=2, unique=True))
            whole = [Target("", symbol=symbol) for symbol in symbols]
            targets += whole
        if "placed" in keeps and draw(st.booleans()):
            targets.append(draw(target_of("a.py", "Class.method")))
        tag_names = ["hard", "lang"] * ("tags" in keeps) + ["category"] * ("category" in keeps)
        tags = draw(st.dictionaries(st.sampled_from(tag_names), TEXTS)) if tag_names else {}
        extra = draw(st.dictionaries(SAFE, JSON, max_size=2)) if "extra" in keeps else {}
        text = draw(TEXTS) if "text" in keeps else ""
        queries.append(Query(query_id, text, tuple(targets), tags, extra))
    metadata = draw(st.dictionaries(SAFE, JSON, max_size=2)) if "metadata" in keeps else {}
    match = draw(st.sampled_from(["exact", "lines"])) if name == "gold" else "exact"
    return Dataset.of(queries, name="example", match=match, metadata=metadata)


@st.composite
def runs(draw: st.DrawFn, name: str) -> Run:
    """Return a run that the format called *name* says it can hold."""
    keeps = FORMATS.get(name).keeps
    finite = st.floats(-1e9, 1e9, allow_nan=False)
    answers = []
    for query_id in draw(st.lists(IDS, min_size=1, max_size=3, unique=True)):
        unique = "repeats" not in keeps
        few = 0 if "bare" in keeps else 1
        paths = draw(st.lists(IDS, min_size=few, max_size=4, unique=unique))
        scores = draw(st.lists(finite, min_size=len(paths), max_size=len(paths)))
        if "unordered" not in keeps:
            scores.sort(reverse=True)
        hits = []
        for path, score in zip(paths, scores, strict=True):
            start = draw(st.integers(1, 99)) if "lines" in keeps and draw(st.booleans()) else 0
            symbol = draw(st.sampled_from(["", "f", "no"])) if "symbols" in keeps else ""
            tokens = draw(st.integers(-1, 99)) if "tokens" in keeps else -1
            hits.append(Hit(path, score, start, start, symbol, tokens))
        outcome = draw(st.sampled_from(Outcome)) if "outcome" in keeps else Outcome.ANSWERED
        latency = draw(st.integers(-1, 2**62)) if "latency" in keeps else -1
        extra = draw(st.dictionaries(SAFE, JSON, max_size=2)) if "extra" in keeps else {}
        answers.append(Answer(query_id, tuple(hits), outcome, latency, extra))
    metadata = draw(st.dictionaries(SAFE, JSON, max_size=2)) if "metadata" in keeps else {}
    return Run.of(answers, name="bm25", metadata=metadata)


def again(data: Dataset | Run, name: str, folder: Path) -> Dataset | Run:
    """Return *data* after a trip through a file of the format *name*."""
    target = FORMATS.get(name)
    suffix = target.suffixes[0] if target.suffixes else ""
    path = folder / f"trip{suffix}"
    write(data, path, format=name)
    assert [item.name for item in folder.iterdir()] == [path.name]  # nothing is left beside it
    return read(path, format=name)


def check_dataset_survives(before: Dataset, name: str, folder: Path) -> None:
    """Check that the format *name* gives *before* back."""
    assert losses(before, FORMATS.get(name)) == ()
    after = again(before, name, folder)
    assert isinstance(after, Dataset)
    assert list(after.queries()) == list(before.queries())
    if "metadata" in FORMATS.get(name).keeps:
        assert dict(after.metadata) == {**after.metadata, **before.metadata}


RICH = Dataset.of(
    [
        Query(
            "q1",
            "where is login",
            (
                Target("a.py", 3, 1, 9),
                Target("a.py", 1, 20, 30),
                Target("b.py", 0.5, symbol="f", ref="uri"),
                Target("c.py", -1),
                Target("d.py", 0),
            ),
            {"category": "x", "hard": "hard"},
            {"commit_hash": "abc"},
        ),
    ],
    metadata={"repository": "r"},
)


def check_losses(name: str, folder: Path) -> None:
    """Check that what the format *name* loses is named, and that the rest can be read."""
    target: Format = FORMATS.get(name)
    refused = features(RICH) & target.refuses
    if refused:
        with pytest.raises(InputError) as caught:
            again(RICH, name, folder)
        assert all(FEATURES[feature] in str(caught.value) for feature in refused)
        assert not list(folder.iterdir())
        return
    after = again(RICH, name, folder)
    kept_all = features(after) >= features(RICH)
    assert kept_all == (losses(RICH, target) == ())


def live(*scores: float) -> Run:
    """Return the run of an engine that has returned hits with these *scores*."""
    hits = tuple(Hit(f"{number:02}.py", score) for number, score in enumerate(scores))
    return Run.of([Answer("q1", hits)], name="live", metadata={"ties": "order", "k": 10})


def check_order_survives(path: Path, ties: str | None) -> None:
    """Check that the file *path* of an engine's run scores like the run."""
    run = live(2.0, 2.0, 1.0, 1.0, 1.0, 0.0, 0.0)
    gold = {"q1": {"00.py": 1, "03.py": 2, "06.py": 1}}
    measures = ["mrr", "ap", "ndcg@5", "precision@3"]
    expected = karat.evaluate(gold, run, measures, confidence=None)
    write(run, path)
    for source in (path, read_run(path)):
        evaluation = karat.evaluate(gold, source, measures, ties=ties, confidence=None)
        assert [evaluation[one] for one in measures] == [expected[one] for one in measures]
