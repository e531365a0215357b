"""The contract of embedders, as tests that every embedder inherits.

class TestMine(EmbedderSuite):
    @pytest.fixture
    def embedder(self):
        return create_embedder("my_package:factory")
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from karat.engines.embedding import Embedder, SupportsTokenVectors
from karat.engines.rerank import Reranker
from karat.errors import InputError
from karat.testing.engines import AWKWARD_QUERIES, DOCUMENTS

__all__ = ["EmbedderSuite", "RerankerSuite"]

# A suite of tests asserts, wherever it is kept.
# ruff: noqa: S101


TEXTS = [
    "def read_file(path): return open(path).read()",
    "the cat sat on the mat",
    "größer als 猫が座った 🙂",
    "a\0b\r\n\tc",
    "half a pair \ud83d of surrogates",
    "word " * 5_000,
    "x" * 100_000,
]


class EmbedderSuite:
    """Inherit it, and give the embedder under test as the fixture ``embedder``."""

    def test_rows_are_unit_float32_in_order(self, embedder: Embedder) -> None:
        """One row a text, whatever the text."""
        rows = embedder.embed(TEXTS)
        assert rows.dtype == np.float32
        assert rows.shape == (len(TEXTS), embedder.dimension)
        assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-5)

    def test_no_text_and_blank_text(self, embedder: Embedder) -> None:
        """No texts give no rows, blanks a row of zeros."""
        assert embedder.embed([]).shape[0] == 0
        rows = embedder.embed(["", TEXTS[0], " \n\t"])
        assert not rows[[0, 2]].any()
        assert rows[1].any()

    def test_a_row_depends_on_its_text_only(self, embedder: Embedder) -> None:
        """Neighbours, order and repetition change nothing."""
        together = embedder.embed(TEXTS)
        shuffled = embedder.embed([*reversed(TEXTS), TEXTS[0]])
        alone = np.concatenate([embedder.embed([text]) for text in TEXTS])
        assert np.allclose(together, alone, atol=1e-5)
        assert np.allclose(together[::-1], shuffled[:-1], atol=1e-5)
        assert np.allclose(together[0], shuffled[-1], atol=1e-5)

    def test_a_query_is_the_same_in_any_company(self, embedder: Embedder) -> None:
        """Bit for bit, so that queries may be embedded ahead."""
        together = embedder.embed(TEXTS, kind="query")
        alone = np.concatenate([embedder.embed([text], kind="query") for text in TEXTS])
        assert np.array_equal(together, alone)

    def test_queries_have_the_same_shape(self, embedder: Embedder) -> None:
        """A query is compared with documents, so it has their dimension."""
        rows = embedder.embed(["read a file"], kind="query")
        assert rows.shape == (1, embedder.dimension)

    def test_one_text_is_no_list(self, embedder: Embedder) -> None:
        """A text in place of a list of texts would be embedded letter by letter."""
        with pytest.raises(InputError, match="expected a list of texts"):
            embedder.embed("read a file")

    def test_the_digest_is_stable(self, embedder: Embedder) -> None:
        """It names the weights, and embedding does not change them."""
        before = embedder.digest
        embedder.embed(TEXTS[:1])
        assert embedder.digest == before
        assert len(before) == 64

    def test_token_vectors(self, embedder: Embedder) -> None:
        """Where there are any: rows of length 1, more for a longer text, none for an empty one."""
        if not isinstance(embedder, SupportsTokenVectors):
            return
        few, more, none = embedder.token_vectors(["cat", "the cat sat on the mat", " "])
        assert 0 < len(few) < len(more)
        assert none.shape == (0, more.shape[1])
        assert np.allclose(np.linalg.norm(more, axis=1), 1, atol=1e-5)


# A suite of tests asserts, wherever it is kept.
# ruff: noqa: S101


PASSAGES = [f"{path}\n{text}" for path, text in DOCUMENTS.items()]


class RerankerSuite:
    """The contract of rerankers; a subclass provides the fixture ``reranker``."""

    # Tolerance between scores of a text in different batches.
    tolerance = 1e-5

    def test_has_a_name_and_a_weight(self, reranker: Reranker) -> None:
        """The name labels a run, the weight is a share."""
        assert isinstance(reranker, Reranker)
        assert reranker.name
        assert 0 <= reranker.weight <= 1

    def test_one_finite_score_a_text(self, reranker: Reranker) -> None:
        """Whatever is asked, and whatever the texts are."""
        texts = [*PASSAGES, "login " * 5_000, "x", "\ud800", *AWKWARD_QUERIES]
        for query in ["login password", *AWKWARD_QUERIES]:
            scores = reranker.scores(query, texts)
            assert scores.shape == (len(texts),), query
            assert np.isfinite(scores).all(), query
        assert reranker.scores("login", []).shape == (0,)

    def test_a_score_is_of_its_own_text(self, reranker: Reranker) -> None:
        """Not of the texts beside it, nor of their order."""
        scores = reranker.scores("login password", PASSAGES)
        again = reranker.scores("login password", PASSAGES[::-1])[::-1]
        assert np.allclose(scores, again, atol=self.tolerance)
        alone = [reranker.scores("login password", [text])[0] for text in PASSAGES]
        assert np.allclose(scores, alone, atol=self.tolerance)

    def test_the_query_counts(self, reranker: Reranker) -> None:
        """Another query gives other scores."""
        one, other = (reranker.scores(query, PASSAGES) for query in ("login password", "zebra"))
        assert not np.allclose(one, other, atol=self.tolerance)

    def test_threads(self, reranker: Reranker) -> None:
        """Several threads may score at once."""
        queries = ["login password", "zebra", "message mail", "how to get a key"] * 2
        expected = [reranker.scores(query, PASSAGES) for query in queries]
        with ThreadPoolExecutor(4) as threads:
            found = list(threads.map(lambda query: reranker.scores(query, PASSAGES), queries))
        assert np.allclose(found, expected, atol=self.tolerance)
