import numpy as np
import pytest

from karat.engines.nearest import ExactIndex, HnswIndex, Nearest, recall

pytest.importorskip("faiss")


@pytest.fixture(scope="module")
def matrix() -> np.ndarray:
    chance = np.random.default_rng(7)
    rows = chance.standard_normal((3_000, 24)).astype(np.float32)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True))


def test_finds_nearly_all(matrix: np.ndarray) -> None:
    exact, graph = ExactIndex(matrix), HnswIndex(matrix)
    queries = matrix[:50]
    truth, approximate = exact.search_many(queries, 10), graph.search_many(queries, 10)
    assert recall(approximate, truth) > 0.97
    assert [near.rows[0] for near in approximate] == list(range(50))
    live = np.random.default_rng(8).random(len(matrix)) < 0.3
    among = graph.search_many(queries, 10, live=live)
    assert all(live[near.rows].all() for near in among)
    assert recall(among, exact.search_many(queries, 10, live=live)) > 0.95


def test_asking_for_more_than_there_is(matrix: np.ndarray) -> None:
    graph = HnswIndex(matrix[:5])
    assert sorted(graph.search(matrix[0], 99).rows.tolist()) == [0, 1, 2, 3, 4]


def test_recall_by_hand() -> None:
    def near(*rows: int) -> Nearest:
        return Nearest(np.array(rows, np.int64), np.zeros(len(rows)))

    assert recall([near(1, 2), near(5)], [near(2, 3), near(5, 6)]) == 0.5
    assert recall([], []) == 1.0
