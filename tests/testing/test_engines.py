"""The suite of engines finds what it is for: each engine here breaks one law."""

from collections.abc import Callable, Sequence
from itertools import count

import pytest

from karat.corpus import Corpus, from_texts
from karat.engines import Engine
from karat.errors import EngineError, InputError
from karat.model import Hit
from karat.testing import EngineSuite
from karat.testing.engines import DOCUMENTS


class Good(Engine):
    """Keeps the law."""

    name = "good"
    thread_safe = True

    def __init__(self) -> None:
        self.texts: dict[str, str] | None = None

    def index(self, corpus: Corpus) -> None:
        self.texts = {document.path: text for document, text in corpus.texts()}

    def search(self, query: str, k: int) -> Sequence[Hit]:
        if k < 1:
            raise InputError("k is a whole number from 1 up")
        if self.texts is None:
            raise EngineError("search was called before index")
        asked = query.lower().split()
        scores = {p: sum(w in t.lower() for w in asked) for p, t in self.texts.items()}
        best = sorted((p for p in scores if scores[p]), key=lambda p: -scores[p])
        return [Hit(path, scores[path]) for path in best[:k]]

    def close(self) -> None:
        self.texts = None


class TestGood(EngineSuite):
    @pytest.fixture
    def engine(self) -> Good:
        return Good()


class TooMany(Good):
    def search(self, query: str, k: int) -> Sequence[Hit]:
        return super().search(query, k + 1)


class Ascending(Good):
    def search(self, query: str, k: int) -> Sequence[Hit]:
        hits = super().search(query, k)
        return [hit._replace(score=rank) for rank, hit in enumerate(hits)]


class NoScore(Good):
    def search(self, query: str, k: int) -> Sequence[Hit]:
        return [hit._replace(score=float("nan")) for hit in super().search(query, k)]


class Twice(Good):
    def search(self, query: str, k: int) -> Sequence[Hit]:
        return [hit for hit in super().search(query, k) for _ in range(2)][:k]


class Elsewhere(Good):
    def search(self, query: str, k: int) -> Sequence[Hit]:
        return [hit._replace(path="/etc/passwd") for hit in super().search(query, k)]


class BadLines(Good):
    def search(self, query: str, k: int) -> Sequence[Hit]:
        return [hit._replace(start_line=1, end_line=99) for hit in super().search(query, k)]


class Fickle(Good):
    numbers = count()

    def search(self, query: str, k: int) -> Sequence[Hit]:
        hits = super().search(query, k)
        return hits[next(self.numbers) % 2 :]


class Adds(Good):
    def index(self, corpus: Corpus) -> None:
        before = self.texts or {}
        super().index(corpus)
        self.texts = {**before, **(self.texts or {})}


class Unready(Good):
    def search(self, query: str, k: int) -> Sequence[Hit]:
        return super().search(query, k) if self.texts is not None else []


class EmptyQueryFinds(Good):
    def search(self, query: str, k: int) -> Sequence[Hit]:
        return super().search(query, k) or [Hit(path) for path in (self.texts or {})][:k]


class ClosesOnce(Good):
    closed = False

    def close(self) -> None:
        if self.closed:
            raise RuntimeError("closed already")
        self.closed = True
        super().close()


class Mixes(Good):
    """Keeps the query where another thread overwrites it."""

    def search(self, query: str, k: int) -> Sequence[Hit]:
        import threading

        if threading.current_thread() is not threading.main_thread():
            query = "zebra"
        return super().search(query, k)


class AnyK(Good):
    def search(self, query: str, k: int) -> Sequence[Hit]:
        return super().search(query, max(k, 1))


class OnlyAscii(Good):
    def search(self, query: str, k: int) -> Sequence[Hit]:
        query.encode("ascii")
        return super().search(query, k)


class Shows(Good):
    """Moves between snapshots by indexing each."""

    def show(self, corpus: Corpus) -> None:
        self.index(corpus)


class Keeps(Shows):
    """Shows what is new beside what is gone."""

    def show(self, corpus: Corpus) -> None:
        before = self.texts or {}
        self.index(corpus)
        self.texts = {**before, **(self.texts or {})}


CORPUS = from_texts(DOCUMENTS, name="suite")
SUITE = EngineSuite()
Test = Callable[[Good, Corpus], None]


@pytest.mark.parametrize(
    ("broken", "test"),
    [
        (TooMany, SUITE.test_at_most_k),
        (Ascending, SUITE.test_at_most_k),
        (NoScore, SUITE.test_finds_what_is_there),
        (Twice, SUITE.test_at_most_k),
        (Elsewhere, SUITE.test_finds_what_is_there),
        (BadLines, SUITE.test_finds_what_is_there),
        (Fickle, SUITE.test_same_query_same_hits),
        (Adds, SUITE.test_index_replaces),
        (EmptyQueryFinds, SUITE.test_empty_query),
        (ClosesOnce, SUITE.test_close_twice),
        (Mixes, SUITE.test_threads),
        (AnyK, SUITE.test_k_from_1),
        (OnlyAscii, SUITE.test_any_script),
        (OnlyAscii, SUITE.test_a_query_is_only_text),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_broken_engine_is_found(broken: type[Good], test: Test) -> None:
    test(Good(), CORPUS)
    with pytest.raises((AssertionError, RuntimeError, UnicodeError, pytest.fail.Exception)):
        test(broken(), CORPUS)


def test_a_snapshot_that_is_not_left_is_found() -> None:
    SUITE.test_any_chain_of_snapshots(Shows())
    with pytest.raises(AssertionError):
        SUITE.test_any_chain_of_snapshots(Keeps())


def test_an_engine_that_answers_before_it_has_a_corpus() -> None:
    with pytest.raises(pytest.fail.Exception):
        SUITE.test_search_before_index(Unready())
