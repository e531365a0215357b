"""The tokens of a model, in which the chunker ``window`` can count."""

from collections.abc import Callable, Sequence
from typing import Protocol

from karat.errors import MissingExtra
from karat.registry import Registry

__all__ = ["DEFAULT_TOKENIZER", "TOKENIZERS", "Span", "Tokenizer", "create_tokenizer"]

Span = tuple[int, int]


class Tokenizer(Protocol):
    """Says where the tokens of a text stand.

    The law: equal texts have equal tokens; they are in the order of the text, which they need not
    cover. Several may share a character, and one may stand for none. ``digest`` names all that
    they depend on.
    """

    @property
    def digest(self) -> str:
        """Return the identity of the vocabulary and settings."""
        ...

    def spans(self, text: str) -> Sequence[Span]:
        """Return the characters of each token, from first to past the last, special ones absent."""
        ...


# That of the embedder that is taken when nobody chooses one.
DEFAULT_TOKENIZER = "granite"

# They come with the models, of which a corpus knows nothing before one of them is asked for.
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
    """Return the tokenizer that *spec* describes: a name, and after a colon what it is about.

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
