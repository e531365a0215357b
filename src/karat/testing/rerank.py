"""The contract of rerankers, as tests that every reranker inherits.

class TestMyReranker(RerankerSuite):
    @pytest.fixture
    def reranker(self):
        return MyReranker()
"""

# A suite of tests asserts, wherever it is kept.
# ruff: noqa: S101

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from karat.engines.rerank import Reranker
from karat.testing.engines import AWKWARD_QUERIES, DOCUMENTS

__all__ = ["RerankerSuite"]

TEXTS = [f"{path}\n{text}" for path, text in DOCUMENTS.items()]


class RerankerSuite:
    """What holds for every reranker; a subclass provides the fixture ``reranker``."""

    # How far the scores of a text may be apart that was scored beside others.
    tolerance = 1e-5

    def test_has_a_name_and_a_weight(self, reranker: Reranker) -> None:
        """The name labels a run, the weight is a share."""
        assert isinstance(reranker, Reranker)
        assert reranker.name
        assert 0 <= reranker.weight <= 1

    def test_one_finite_score_a_text(self, reranker: Reranker) -> None:
        """Whatever is asked, and whatever the texts are."""
        texts = [*TEXTS, "login " * 5_000, "x", "\ud800", *AWKWARD_QUERIES]
        for query in ["login password", *AWKWARD_QUERIES]:
            scores = reranker.scores(query, texts)
            assert scores.shape == (len(texts),), query
            assert np.isfinite(scores).all(), query
        assert reranker.scores("login", []).shape == (0,)

    def test_a_score_is_of_its_own_text(self, reranker: Reranker) -> None:
        """Not of the texts beside it, nor of their order."""
        scores = reranker.scores("login password", TEXTS)
        again = reranker.scores("login password", TEXTS[::-1])[::-1]
        assert np.allclose(scores, again, atol=self.tolerance)
        alone = [reranker.scores("login password", [text])[0] for text in TEXTS]
        assert np.allclose(scores, alone, atol=self.tolerance)

    def test_the_query_counts(self, reranker: Reranker) -> None:
        """Another query gives other scores."""
        one, other = (reranker.scores(query, TEXTS) for query in ("login password", "zebra"))
        assert not np.allclose(one, other, atol=self.tolerance)

    def test_threads(self, reranker: Reranker) -> None:
        """Several may ask at once."""
        queries = ["login password", "zebra", "message mail", "how to get a key"] * 2
        expected = [reranker.scores(query, TEXTS) for query in queries]
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda query: reranker.scores(query, TEXTS), queries))
        assert np.allclose(found, expected, atol=self.tolerance)
