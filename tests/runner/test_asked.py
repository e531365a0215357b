"""What an engine is asked in its process, and what of its answer counts."""

from collections.abc import Sequence

from karat.corpus import Corpus, from_texts
from karat.model import Hit
from karat.model.spec import Spec
from karat.runner import Configuration
from karat.runner.asked import Asked
from karat.runner.wire import unpacked

CORPUS = from_texts({f"{name}.py": "one\ntwo\nthree\nfour\n" for name in "abc"})


class Deep:
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


def asked(engine: Deep, *, k: int, files: bool = False, threshold: float = 0.0) -> Asked:
    wanted = Configuration("deep", Spec("engine", "x:Deep"), k, files, threshold)
    found = Asked(wanted, engine)
    found.indexed(CORPUS, 5)
    return found


def test_each_search_begins_anew() -> None:
    engine = Deep()
    one = asked(engine, k=2, files=True)
    said = one.ask("x", first=True, before=lambda: engine.noted.append("before"))
    assert engine.noted == ["before", 2, "before", 8]
    assert [hit.path for hit in unpacked(said["hits"])] == ["a.py"] * 4 + ["b.py"]


def test_a_threshold_and_a_depth_leave_the_beginning() -> None:
    said = asked(Deep(), k=9, threshold=0.75).ask("x", first=True, before=lambda: None)
    assert [hit.score for hit in unpacked(said["hits"])] == [12.0, 11.0, 10.0, 9.0]


def test_a_further_repetition_says_whether_it_is_the_same() -> None:
    engine = Deep()
    one = asked(engine, k=3)
    one.ask("x", first=True, before=lambda: None)
    assert one.ask("x", first=False, before=lambda: None)["same"] is True
    # Fewer hits than before are another ranking.
    engine.search = lambda query, k: [Hit("a.py", 1.0)]  # type: ignore[method-assign]
    assert one.ask("x", first=False, before=lambda: None)["same"] is False
