"""The tokens of a model, in which the chunker ``window`` can count."""

from collections.abc import Callable, Sequence
from typing import Protocol

from karat.errors import MissingExtra
from karat.registry import Registry

__all__ = ["DEFAULT_TOKENIZER", "TOKENIZERS", "Span", "Tokenizer", "create_tokenizer"]

Span = tuple[int, int]


class Tokenizer(Protocol):
    """Finds the tokens of a text.

    The contract: equal texts have equal tokens, in the order of the text. Tokens need not cover
    the text; several may share a character, and one may have none. ``digest`` identifies all that
    they depend on.
    """

    @property
    def digest(self) -> str:
        """Return the identity of the vocabulary and settings."""
        ...

    def spans(self, text: str) -> Sequence[Span]:
        """Return the characters of each token, from first to past the last, special ones absent."""
        ...


# The tokenizer of the default embedder.
DEFAULT_TOKENIZER = "granite"

# They belong to the models in karat.engines and are loaded on first use.
TOKENIZERS: Registry[Callable[[str], Tokenizer]] = Registry(
    "tokenizer",
    {
        "granite": "karat.engines.embedding.tokenizers:granite",
        "minilm": "karat.engines.embedding.tokenizers:minilm",
        "file": "karat.engines.embedding.tokenizers:from_file",
    },
    closed=True,
)


def create_tokenizer(spec: str = DEFAULT_TOKENIZER) -> Tokenizer:
    """Return the tokenizer that *spec* describes: a name, and an argument after a colon.

    ``granite``, ``minilm``, ``file:<tokenizer.json or its folder>``, or a plug-in of the entry
    point group ``karat.tokenizers``.

    >>> create_tokenizer("granit")
    Traceback (most recent call last):
    ...
    karat.errors.UnknownName: no tokenizer named 'granit'; did you mean 'granite'?
    """
    factory, argument = TOKENIZERS.split(spec)
    try:
        return factory(argument)
    except MissingExtra as error:
        package = error.name or "tokenizers"
        raise MissingExtra(package, extra="dense", purpose="counting a model's tokens") from None
