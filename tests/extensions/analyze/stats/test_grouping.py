import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from karat.extensions.analyze.stats.topics import group_directions, silhouette


def bundles(sizes: tuple[int, ...], *, noise: float = 0.05) -> np.ndarray:
    """Return rows around as many axes as there are sizes."""
    rng = np.random.default_rng(0)
    axes = np.repeat(np.eye(len(sizes) + 2)[: len(sizes)], sizes, axis=0)
    return axes + rng.normal(0, noise, axes.shape)


@pytest.mark.parametrize("sizes", [(12, 9), (20, 15, 10), (11, 10, 9, 8, 7)])
def test_bundles_are_found_and_counted(sizes: tuple[int, ...]) -> None:
    labels = group_directions(bundles(sizes))
    assert labels.tolist() == np.repeat(range(len(sizes)), sizes).tolist()


def test_length_means_nothing() -> None:
    rows = bundles((12, 9))
    assert (group_directions(rows * np.arange(1, 22)[:, None]) == group_directions(rows)).all()


def test_as_many_groups_as_asked_for_and_rows_allow() -> None:
    assert len(set(group_directions(bundles((12, 9)), groups=4).tolist())) == 4
    assert sorted(group_directions(np.eye(2), groups=5).tolist()) == [0, 1]


def test_what_has_no_direction_belongs_nowhere() -> None:
    rows = np.vstack([np.zeros((1, 4)), bundles((7, 6))])
    assert group_directions(rows).tolist() == [-1] + [0] * 7 + [1] * 6
    assert group_directions(np.zeros((3, 2))).tolist() == [-1, -1, -1]


def test_few_rows_and_equal_rows_are_one_group() -> None:
    assert group_directions(np.eye(4)).tolist() == [0, 0, 0, 0]
    assert group_directions(np.ones((20, 3))).tolist() == [0] * 20


def test_it_ends_before_all_is_settled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("karat.extensions.analyze.stats.topics.ROUNDS", 1)
    labels = group_directions(bundles((12, 9), noise=0.5), groups=4)
    assert set(labels.tolist()) <= {0, 1, 2, 3}


def test_silhouette_by_hand() -> None:
    rows = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    # Distances are 0 within the pair and 1 to the third, which is alone and counts 0.
    assert silhouette(rows, np.array([0, 0, 1])) == pytest.approx(2 / 3)
    assert silhouette(rows, np.array([0, 1, 1])) == pytest.approx((0 - 1 + 0) / 3)
    assert silhouette(rows, np.array([1, 1, 1])) == 0.0


def test_silhouette_agrees_with_an_independent_one() -> None:
    metrics = pytest.importorskip("sklearn.metrics")
    rows = bundles((9, 8, 7), noise=0.6)
    units = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    labels = np.repeat([0, 1, 2], [9, 8, 7])
    assert silhouette(units, labels) == pytest.approx(
        metrics.silhouette_score(units, labels, metric="cosine")
    )


@given(rows=arrays(np.float64, (14, 3), elements=st.floats(-1, 1).map(lambda x: round(x, 2))))
def test_every_row_with_a_direction_has_a_group(rows: np.ndarray) -> None:
    labels = group_directions(rows)
    assert ((labels >= 0) == (np.linalg.norm(rows, axis=1) > 0)).all()
    sizes = np.bincount(labels[labels >= 0]).tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert (group_directions(rows) == labels).all()
