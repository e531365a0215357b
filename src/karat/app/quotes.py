"""Find quoted passages in a corpus: as they are written, else with other white space."""

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from karat.corpus import Corpus

__all__ = ["MOST_PLACES", "Passage", "Quote", "locate_quotes"]

# Maximum number of places of a passage that become targets.
MOST_PLACES = 20


class Quote(NamedTuple):
    """A quoted text, and the path of its document; "" if it may be in any."""

    text: str
    path: str = ""


class Passage(NamedTuple):
    """Lines of a document, from 1, both ends inclusive."""

    path: str
    start_line: int
    end_line: int


def locate_quotes(corpus: Corpus, quotes: Iterable[Quote]) -> dict[Quote, list[Passage]]:
    r"""Return the places of each of *quotes*, in the order of the corpus; at most MOST_PLACES.

    A quote is found where its text stands exactly; only if that is nowhere, where it stands with
    other white space, such as other line ends.

    >>> from karat.corpus import from_texts
    >>> corpus = from_texts({"a.md": "one\ntwo three\nfour", "b.md": "two three"})
    >>> both, one = Quote("two three"), Quote("three four")
    >>> found = locate_quotes(corpus, [both, one])
    >>> [place.path for place in found[both]], found[one]
    (['a.md', 'b.md'], [Passage(path='a.md', start_line=2, end_line=3)])
    """
    found: dict[Quote, list[Passage]] = {quote: [] for quote in quotes}
    _look(corpus, found, {quote: quote.text.strip() for quote in found if quote.text.strip()})
    pending = {quote: " ".join(quote.text.split()) for quote, places in found.items() if not places}
    _look(corpus, found, {quote: text for quote, text in pending.items() if text}, folded=True)
    return found


def _look(
    corpus: Corpus,
    found: Mapping[Quote, list[Passage]],
    wanted: Mapping[Quote, str],
    *,
    folded: bool = False,
) -> None:
    """Add the places of *wanted* texts to *found*; *folded* texts have single blanks."""
    if not wanted:
        return
    patterns: dict[Quote, re.Pattern[str]] = {}
    for document, text in corpus.texts():
        content = " ".join(text.split()) if folded else text
        for quote, words in wanted.items():
            if quote.path not in ("", document.path) or words not in content:
                continue
            if quote not in patterns:
                pieces = words.split(" ") if folded else [words]
                patterns[quote] = re.compile(r"\s+".join(map(re.escape, pieces)))
            for match in patterns[quote].finditer(text):
                if len(found[quote]) < MOST_PLACES:
                    first = text.count("\n", 0, match.start()) + 1
                    last = first + text.count("\n", match.start(), match.end())
                    found[quote].append(Passage(document.path, first, last))
