"""A collapsed model and a shuffled one are told from a sound one."""

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
import pytest
from numpy.typing import NDArray

from karat.corpus import from_texts
from karat.engines.embedding import Embedder, Kind
from karat.errors import InputError
from karat.extensions.analyze.embedding import embedding_quality
from karat.model import Dataset, Query, Target

TOPICS = ("login", "mail", "canvas", "parser", "socket", "ledger", "robot", "garden")
DIMENSION = 64


class Fake(Embedder):
    """Embeds a text by the topics that it names; *bias* pulls all rows to one line."""

    name, dimension, max_tokens, digest = "fake", DIMENSION, None, "d"

    def __init__(self, *, bias: float = 0.0, shuffled: bool = False) -> None:
        self.bias = bias
        self.shuffled = shuffled

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> NDArray[np.float32]:
        rows = np.array([self._row(text, kind) for text in texts])
        lengths = np.linalg.norm(rows, axis=1, keepdims=True)
        return np.asarray(rows / lengths, np.float32)

    def _row(self, text: str, kind: str) -> NDArray[np.float64]:
        seed = int.from_bytes(sha256(text.encode()).digest()[:4], "big")
        row = np.random.default_rng(seed).normal(0, 0.05, DIMENSION)
        # A shuffled model gives a document the row of another one.
        topic = [number for number, name in enumerate(TOPICS) if name in text.lower()]
        if self.shuffled and kind == "document":
            topic = [seed % len(TOPICS)]
        row[topic] += 1.0
        row[-1] += self.bias
        return row


GOLD = Dataset.of(
    [
        Query(f"{topic}{n}", f"question {n} about {topic}", (Target(f"{topic}.py", 1, 1, 3),))
        for topic in TOPICS
        for n in range(6)
    ],
    match="lines",
)
CORPUS = from_texts(
    {
        **{f"{topic}.py": f"def {topic}():\n    '''{topic}'''\n    pass\n" for topic in TOPICS},
        **{f"other{n}.py": f"def other{n}():\n    '''nothing {n}'''\n" for n in range(40)},
    }
)


def test_a_sound_model_separates() -> None:
    quality = embedding_quality(GOLD, CORPUS, model=Fake())
    assert (quality.model, quality.dimension, quality.chunks, quality.zeros) == ("fake", 64, 48, 0)
    assert (quality.queries, quality.unplaced) == (48, 0)
    assert quality.separation > 0.99
    assert quality.relevant > 0.8
    assert abs(quality.irrelevant) < 0.3
    assert quality.distance is not None
    assert quality.distance > 3
    assert quality.mean_cosine < 0.3
    assert quality.warnings == ()


def test_a_collapsed_model_is_called_so() -> None:
    quality = embedding_quality(GOLD, CORPUS, model=Fake(bias=20.0))
    assert quality.mean_cosine > 0.99
    assert quality.first_direction > 0.99
    assert quality.warnings[0].startswith("collapsed: the mean cosine of two random chunks is 1.00")


def test_a_shuffled_model_does_not_separate() -> None:
    quality = embedding_quality(GOLD, CORPUS, model=Fake(shuffled=True))
    assert quality.separation < 0.75
    (warning,) = quality.warnings
    assert warning.startswith("no significant separation with 48 queries: a relevant chunk")
    assert quality.mean_cosine < 0.5


def test_queries_that_belong_together_are_drawn_together() -> None:
    tagged = [query._replace(tags={"case": query.targets[0].path}) for query in GOLD.queries()]
    together = Dataset.of(tagged, match="lines", metadata={"cluster": "case"})
    alone = embedding_quality(GOLD, CORPUS, model=Fake(shuffled=True))
    quality = embedding_quality(together, CORPUS, model=Fake(shuffled=True))
    assert quality.separation == alone.separation
    assert quality.interval.method.startswith("cluster bootstrap-t")
    assert not alone.interval.method.startswith("cluster")


@pytest.mark.together_with("models")
def test_the_mean_cosine_is_that_of_all_pairs() -> None:
    quality = embedding_quality(GOLD, CORPUS, model="static")
    again = embedding_quality(GOLD, CORPUS, model="static", seed=7)
    assert quality.mean_cosine == pytest.approx(again.mean_cosine, abs=0.01)
    assert quality.first_direction == pytest.approx(again.first_direction)
    assert quality.separation == again.separation > 0.9


def test_queries_whose_targets_are_elsewhere_are_counted() -> None:
    gold = Dataset.of(
        [*GOLD.queries(), Query("gone", "nothing", (Target("gone.py", 1, 1, 2),))], match="lines"
    )
    assert embedding_quality(gold, CORPUS, model=Fake()).unplaced == 1
    gone = Dataset.of([Query("gone", "nothing", (Target("gone.py"),))])
    with pytest.raises(InputError, match="covers a target of dataset"):
        embedding_quality(gone, CORPUS, model=Fake())
    one = from_texts({"login.py": "def login():\n    pass\n"})
    with pytest.raises(InputError, match="every chunk belongs to a target"):
        embedding_quality(GOLD, one, model=Fake())
