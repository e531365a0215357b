"""Count the tokens of hits: the lines that they point at, as a reader of the corpus sees them."""

from array import array
from collections.abc import Iterable
from functools import lru_cache
from itertools import accumulate

from karat.corpus import Corpus
from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.window import create_tokenizer
from karat.model import Hit

# A language model counts about one token for so many characters.
CHARACTERS_A_TOKEN = 4
# The files whose lines are remembered.
MOST_FILES = 512


def tokens(text: str) -> int:
    """Return about how many tokens a language model counts in *text*: four characters each.

    >>> tokens("def login(user):")
    4
    """
    return max(1, len(text) // CHARACTERS_A_TOKEN)


class HitTokens:
    r"""Counts the tokens of hits in *corpus*, by four characters each or by a *tokenizer*.

    The number of an engine that shows less or more than the lines of a hit stays; with a tokenizer
    it is scaled like that of the lines.

    >>> from karat.corpus import from_texts
    >>> count = HitTokens(from_texts({"a.py": "import re\nx = re.escape(text)\n"}))
    >>> [hit.tokens for hit in count.added([Hit("a.py"), Hit("a.py", 1.0, 1, 1)])]
    [7, 2]
    """

    def __init__(self, corpus: Corpus, tokenizer: str = "") -> None:
        """Read nothing yet; *tokenizer* is a name for ``create_tokenizer``."""
        self._corpus = corpus
        self._tokenizer = create_tokenizer(tokenizer) if tokenizer else None
        self._ends = lru_cache(MOST_FILES)(self._line_ends)

    def added(self, hits: Iterable[Hit]) -> tuple[Hit, ...]:
        """Return *hits* with their tokens; each is in the corpus."""
        return tuple(
            hit._replace(tokens=self._count(hit)) if self._tokenizer or hit.tokens < 0 else hit
            for hit in hits
        )

    def _count(self, hit: Hit) -> int:
        ends = self._ends(hit.path)
        characters = ends[hit.end_line] - ends[hit.start_line - 1] if hit.end_line else ends[-1]
        by_characters = max(1, characters // CHARACTERS_A_TOKEN)
        if self._tokenizer is None:
            return by_characters
        text = self._corpus.read(hit.path)
        if hit.end_line:
            text = "".join(lines_of(text)[hit.start_line - 1 : hit.end_line])
        count = len(self._tokenizer.spans(text))
        return count if hit.tokens < 0 else round(count * hit.tokens / by_characters)

    def _line_ends(self, path: str) -> "array[int]":
        """Return how many characters the first lines of a file have, entry *n* for *n* lines."""
        lines = lines_of(self._corpus.read(path))
        return array("q", accumulate(map(len, lines), initial=0))
