"""A question: a query made from a text of the corpus, the place that answers it, and its masks."""

from typing import NamedTuple

from karat.corpus.masks import Mask
from karat.model import Target

__all__ = ["Finding", "Question"]


class Question(NamedTuple):
    """A query, its targets, and the kind of text that it was made from.

    *place* is the document and line of that text; it orders and identifies questions. *language* is
    that of the first target. *reason* names the rule that drops the question ("" for none).
    """

    text: str
    targets: tuple[Target, ...]
    kind: str
    language: str
    place: tuple[str, int]
    reason: str = ""


class Finding(NamedTuple):
    """The questions of one document, and masks that hide the texts they were made from.

    Each mask belongs to the question at the same index; *further* masks belong to no question.
    """

    questions: tuple[Question, ...]
    masks: tuple[tuple[Mask, ...], ...]
    further: tuple[Mask, ...] = ()
