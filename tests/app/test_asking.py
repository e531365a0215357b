"""An engine is asked on every tree; what breaks costs the queries that it breaks."""

from collections.abc import Mapping, Sequence
from functools import partial

import pytest

from karat.app.asking import Asker
from karat.app.trees import Part, Trees
from karat.corpus import Corpus, from_texts
from karat.engines.adapters.python import adapted
from karat.engines.builtin import bm25
from karat.errors import EngineError
from karat.model import Dataset, Hit, Outcome, Query
from karat.runner import Source

GOLD = Dataset.of([Query("q1", "one"), Query("q2", "two"), Query("q3", "three")])


def forest(*corpora: Mapping[str, str]) -> Trees:
    """Return one tree for each query, and the last for all that are left."""
    trees = [(str(place), from_texts(texts)) for place, texts in enumerate(corpora)]
    rows = {name: [place] for place, (name, _) in enumerate(trees)}
    rows[trees[-1][0]] = list(range(len(trees) - 1, len(GOLD)))
    part = Part(lambda: trees, rows, partial(Source.git, "here"))
    return Trees("parent", "here", "all", (part,))


def nothing() -> None:
    pass


class Scripted:
    """An engine that answers with the first hits of a list, and breaks on some words."""

    name = "scripted"
    thread_safe = False

    def __init__(self, hits: Sequence[Hit] = (), broken: str = "") -> None:
        self.hits = hits
        self.broken = broken
        self.indexed: list[list[str]] = []
        self.asked: list[int] = []
        self.closed = 0

    def index(self, corpus: Corpus) -> None:
        self.indexed.append([document.path for document in corpus])
        if self.broken in self.indexed[-1]:
            raise EngineError("no such tree")

    def search(self, query: str, k: int) -> Sequence[Hit]:
        self.asked.append(k)
        if query == self.broken:
            raise EngineError("out of order")
        return self.hits[:k]

    def close(self) -> None:
        self.closed += 1


class Moving(Scripted):
    """One that moves between snapshots."""

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[list[str]] = []

    def show(self, corpus: Corpus) -> None:
        self.shown.append([document.path for document in corpus])


def test_an_engine_without_snapshots_indexes_each_tree() -> None:
    engine = Scripted([Hit("a", 1.0)])
    told: list[int] = []
    trees = forest({"a": "x"}, {"b": "x"}, {"c": "x"})
    found = Asker(engine, k=1, files=False).answers(GOLD, trees, answered=lambda: told.append(1))
    assert engine.indexed == [["a"], ["b"], ["c"]]
    assert [answer.query_id for answer in found] == ["q1", "q2", "q3"]
    assert [answer.extra for answer in found] == [{"revision": str(n)} for n in range(3)]
    assert [answer.latency_ns for answer in found] == [-1] * 3
    assert (len(told), engine.closed) == (3, 1)


def test_an_engine_with_snapshots_indexes_once() -> None:
    engine = Moving()
    trees = forest({"a": "x"}, {"b": "x"}, {"c": "x"})
    Asker(engine, k=1, files=False).answers(GOLD, trees, answered=nothing)
    assert (engine.indexed, engine.shown) == ([["a"]], [["b"], ["c"]])


def test_a_broken_query_costs_itself() -> None:
    engine = Scripted([Hit("a", 1.0)], broken="two")
    found = Asker(engine, k=1, files=False).answers(GOLD, forest({"a": "x"}), answered=nothing)
    by_id = {answer.query_id: answer for answer in found}
    assert by_id["q2"].outcome is Outcome.ERROR
    assert by_id["q2"].extra == {"revision": "0", "error": "out of order"}
    assert [by_id[name].outcome for name in ("q1", "q3")] == [Outcome.ANSWERED] * 2
    assert by_id["q1"].hits == (Hit("a", 1.0),)


def test_a_broken_tree_costs_its_queries() -> None:
    engine = Scripted([Hit("a", 1.0)], broken="b")
    trees = forest({"a": "x"}, {"b": "x"}, {"c": "x"})
    found = Asker(engine, k=1, files=False).answers(GOLD, trees, answered=nothing)
    assert [answer.outcome.name for answer in found] == ["ANSWERED", "ERROR", "ANSWERED"]
    assert found[1].extra["error"] == "no such tree"


def test_an_engine_that_never_answers_is_broken() -> None:
    engine = Scripted(broken="a")
    with pytest.raises(EngineError, match="no query was answered; the first error: no such tree"):
        Asker(engine, k=1, files=False).answers(GOLD, forest({"a": "x"}), answered=nothing)
    assert engine.closed == 1


@pytest.mark.parametrize(
    ("k", "asked", "kept"),
    [(1, [1], "a1"), (2, [2, 8], "a1 a2 a3 b1 a4"), (3, [3, 12], "a1 a2 a3 b1 a4 c1")],
)
def test_enough_is_asked_for_that_k_files_come(k: int, asked: list[int], kept: str) -> None:
    found = [("a", 1), ("a", 2), ("a", 3), ("b", 1), ("a", 4), ("c", 1)]
    hits = [Hit(path, 1.0, line, line) for path, line in found]
    engine = Scripted(hits)
    one = Dataset.of([Query("q", "one")])
    part = Part(lambda: [("", from_texts({"a": "x"}))], {"": [0]}, lambda _: Source.of_texts({}))
    trees = Trees("corpus", "here", "all", (part,))
    (answer,) = Asker(engine, k=k, files=True).answers(one, trees, answered=nothing)
    assert engine.asked == asked
    assert " ".join(f"{hit.path}{hit.start_line}" for hit in answer.hits) == kept
    assert answer.extra == {}
    engine.asked.clear()
    (answer,) = Asker(engine, k=k, files=False).answers(one, trees, answered=nothing)
    assert (engine.asked, len(answer.hits)) == ([k], k)


def test_work_is_that_of_what_differs() -> None:
    same = {"a.py": "one = 1\n", "b.py": "two = 2\n"}
    asker = Asker(bm25(cache=False), k=1, files=True)
    assert asker.work() is None
    trees = forest(same, {**same, "c.py": "three = 3\n"}, same)
    asker.answers(GOLD, trees, answered=nothing)
    work = asker.work()
    assert work is not None
    assert (dict(work.counts), work.largest, work.anew) == ({"rows": 3}, 3, 7)
    assert Asker(Scripted(), k=1, files=True).work() is None


def test_any_exception_of_a_class_costs_its_query() -> None:
    class Fragile(Scripted):
        def search(self, query: str, k: int) -> Sequence[Hit]:
            if query == "two":
                raise ValueError("no json")
            return [Hit("/etc/passwd", 2.0), Hit("a.py", 1.0)]

    asker = Asker(adapted(Fragile(), "fragile"), k=3, files=False)
    answers = asker.answers(GOLD, forest({"a.py": "x"}), answered=nothing)
    errors = {a.query_id: a.extra["error"] for a in answers if a.outcome is Outcome.ERROR}
    assert errors == {"q2": "scripted: ValueError: no json"}
    assert [a.hits for a in answers if a.query_id != "q2"] == [(Hit("a.py", 1.0),)] * 2
    assert asker.dropped() == {"outside the root": 2}
