"""What an engine is asked in its process, and what of its answer counts."""

from collections.abc import Sequence

from karat.corpus import Corpus, from_texts
from karat.engines.adapters.external import External, ExternalReply
from karat.engines.base import Engine
from karat.experiments.workers import Configuration
from karat.experiments.workers.engine_session import EngineSession
from karat.model import Hit
from karat.model.run import PackedHits
from karat.model.spec import Spec

CORPUS = from_texts({f"{name}.py": "one\ntwo\nthree\nfour\n" for name in "abc"})


class Deep(Engine):
    """Finds four lines in each file, and notes how many hits were wanted."""

    name = "deep"
    thread_safe = True

    def __init__(self) -> None:
        self.noted: list[object] = []

    def index(self, corpus: Corpus) -> None:
        pass

    def search(self, query: str, k: int) -> Sequence[Hit]:
        self.noted.append(k)
        places = [(f"{name}.py", line) for name in "abc" for line in (1, 2, 3, 4)]
        return [Hit(path, 12.0 - n, line, line) for n, (path, line) in enumerate(places)][:k]


class Outside(External):
    """A search of somebody else, whose first hit is in no file that exists."""

    needs_directory = False

    def _ask(self, query: str, k: int) -> ExternalReply:
        return ExternalReply([Hit("gone.py", 99.0), *Deep().search(query, k)][:k])

    def _stop(self) -> None:
        pass


def asked(
    engine: Engine, name: str = "x:Deep", *, k: int, files: bool = False, threshold: float = 0.0
) -> EngineSession:
    wanted = Configuration("deep", Spec("engine", name), k, threshold, files=files)
    found = EngineSession(wanted, engine)
    found.indexed(CORPUS, 5)
    return found


def test_each_search_begins_anew() -> None:
    engine = Deep()
    one = asked(engine, k=2, files=True)
    said = one.search("x", first=True, before=lambda: engine.noted.append("before"))
    assert engine.noted == ["before", 2, "before", 8]
    assert [hit.path for hit in PackedHits(said["hits"])] == ["a.py"] * 4 + ["b.py"]


def test_an_engine_of_ours_is_asked_once_for_as_much_as_it_took_before() -> None:
    engine = Deep()
    ours = asked(engine, "bm25", k=2, files=True)
    first, second = (ours.search("x", first=True, before=lambda: None) for _ in range(2))
    assert engine.noted == [2, 8, 8]
    assert first["hits"] == second["hits"]
    # What takes less is asked for less again.
    engine.search = lambda query, k: [Hit("a.py", 2.0), Hit("b.py", 1.0), Hit("b.py", 0.5, 1, 1)]  # type: ignore[method-assign]
    ours.search("y", first=True, before=lambda: None)
    engine = ours.engine = Deep()
    ours.search("x", first=True, before=lambda: None)
    assert engine.noted == [2, 8]


def test_nobody_else_is_asked_for_more_than_they_must_return() -> None:
    engine = Deep()
    others = asked(engine, "http", k=2, files=True)
    for _ in range(2):
        others.search("x", first=True, before=lambda: None)
    assert engine.noted == [2, 8, 2, 8]


def test_a_hit_that_was_dropped_is_counted_once_however_deep_the_search_goes() -> None:
    engine = Outside("outside")
    engine.index(CORPUS)
    one = asked(engine, "http", k=2, files=True)
    for _ in range(2):
        said = one.search("x", first=True, before=lambda: None)
        assert said["invalid"] == {"not in the corpus": 1}
        one.search("x", first=False, before=lambda: None)


def test_a_threshold_and_a_depth_leave_the_beginning() -> None:
    said = asked(Deep(), k=9, threshold=0.75).search("x", first=True, before=lambda: None)
    assert [hit.score for hit in PackedHits(said["hits"])] == [12.0, 11.0, 10.0, 9.0]


def test_a_further_repetition_says_whether_it_is_the_same() -> None:
    engine = Deep()
    one = asked(engine, k=3)
    one.search("x", first=True, before=lambda: None)
    assert one.search("x", first=False, before=lambda: None)["same"] is True
    # Fewer hits than before are another ranking.
    engine.search = lambda query, k: [Hit("a.py", 1.0)]  # type: ignore[method-assign]
    assert one.search("x", first=False, before=lambda: None)["same"] is False


class Paid(Deep):
    """Costs 0.5 and as many tokens as hits were wanted, each time."""

    def metadata(self) -> dict[str, object]:
        return {"cost": 0.5, "tokens": self.noted[-1]}


def test_all_searches_of_a_query_are_paid() -> None:
    said = asked(Paid(), k=2, files=True).search("x", first=True, before=lambda: None)
    # Two files were not among 2 hits, so that 8 were searched for.
    assert said["spent"] == {"tokens": 10, "cost": 1.0}
    assert "spent" not in asked(Deep(), k=2).search("x", first=True, before=lambda: None)


def test_hits_without_tokens_are_counted_in_the_corpus() -> None:
    told = asked(Deep(), k=2).search("x", first=True, before=lambda: None)
    (first, second) = PackedHits(told["hits"])
    lines = CORPUS.read("a.py").splitlines(keepends=True)
    assert [first.tokens, second.tokens] == [max(1, len(line) // 4) for line in lines[:2]]
