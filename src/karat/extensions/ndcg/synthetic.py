"""Synthetic items with a known ranking, to test an index or an evaluation."""

from typing import NamedTuple, TypedDict

from karat.errors import InputError

# Cosine similarities to the query. The gap keeps relevant and irrelevant apart on any back end.
NEAREST, FARTHEST_RELEVANT, NEAREST_IRRELEVANT, FARTHEST = 0.95, 0.60, 0.40, -0.20


class SyntheticItem(TypedDict):
    """An item that a vector back end takes as it is."""

    key: str
    embedding: list[float]


class SyntheticData(NamedTuple):
    """Items in no particular order, a query, and the grade of every item."""

    items: list[SyntheticItem]
    query_embedding: list[float]
    judgments: dict[str, float]


def create_synthetic_evaluation_data(
    num_items: int = 20, embedding_dim: int = 128, num_relevant: int = 5, seed: int = 0
) -> SyntheticData:
    """Return (items, query_embedding, judgments), the same for the same arguments.

    Relevant items have cosine similarities from 0.95 down to 0.60 to the query, the nearer half
    grade 1.0 and the rest 0.5; the others are at 0.40 or less and have grade 0. So a search by
    cosine that finds what is nearest scores 1 at every cut-off, and one that does not scores less.
    All embeddings have length 1; the items are shuffled, and their names say nothing.

    >>> items, query_embedding, judgments = create_synthetic_evaluation_data(seed=7)
    >>> len(items), len(query_embedding), sorted(judgments.values(), reverse=True)[:6]
    (20, 128, [1.0, 1.0, 1.0, 0.5, 0.5, 0.0])
    """
    if num_items < 1 or not 0 <= num_relevant <= num_items:
        raise InputError(
            f"got {num_items} items of which {num_relevant} are relevant; "
            "expected 1 item or more, and no more relevant ones"
        )
    if embedding_dim < 2:
        raise InputError(f"embedding_dim is {embedding_dim}; expected 2 or more")
    import numpy as np

    from karat.scoring.stats.arrays import generator

    rng = generator(seed)
    query = rng.standard_normal(embedding_dim)
    query /= np.linalg.norm(query)
    cosines = np.concatenate(
        [
            np.linspace(NEAREST, FARTHEST_RELEVANT, num_relevant),
            rng.uniform(FARTHEST, NEAREST_IRRELEVANT, num_items - num_relevant),
        ]
    )
    grades = np.zeros(num_items)
    grades[:num_relevant] = 0.5
    grades[: -(-num_relevant // 2)] = 1.0
    # Each item is the query turned by its angle into a random direction at right angles to it.
    aside = rng.standard_normal((num_items, embedding_dim))
    aside -= np.outer(aside @ query, query)
    aside /= np.linalg.norm(aside, axis=1, keepdims=True)
    embeddings = cosines[:, None] * query + np.sqrt(1.0 - cosines**2)[:, None] * aside
    order = rng.permutation(num_items)
    keys = [f"item_{number}" for number in range(num_items)]
    return SyntheticData(
        [
            {"key": key, "embedding": row}
            for key, row in zip(keys, embeddings[order].tolist(), strict=True)
        ],
        query.tolist(),
        dict(zip(keys, grades[order].tolist(), strict=True)),
    )
