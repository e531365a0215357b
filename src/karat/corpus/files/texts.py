"""A corpus of texts in memory, such as uploaded documents."""

from collections.abc import Iterable, Iterator, Mapping

from karat.corpus.chunkers.definitions import language_of
from karat.corpus.files.content import MAX_BYTES, Intake, Look, content_traits
from karat.corpus.git.objects import blob_id
from karat.corpus.snapshot import Corpus, Document
from karat.errors import InputError

__all__ = ["from_texts"]


def from_texts(
    texts: Mapping[str, str], *, name: str = "texts", max_bytes: int = MAX_BYTES
) -> Corpus:
    r"""Return a corpus of *texts*, which maps each path to its text.

    >>> from_texts({"a.txt": "one", "b.txt": "no \0 text"}).skipped
    {'binary': 1}
    """
    intake = Intake()
    kept: dict[str, str] = {}
    for path, text in texts.items():
        if not path or "\0" in path:
            raise InputError(f"{name}: a path is {path!r}; expected a name without NUL")
        try:
            data = text.encode()
        except UnicodeEncodeError:
            intake.skip(path, "not-unicode")
            continue
        if len(data) > max_bytes:
            intake.skip(path, "too-large")
            continue
        traits = content_traits(text, language_of(path))
        look = Look("binary" if "\0" in text else "", traits, "utf-8")
        intake.add(path, blob_id(data), len(data), look=look)
        kept[path] = text.replace("\r\n", "\n")

    return intake.corpus(name, _Reader(kept))


class _Reader:
    """Returns texts from memory; a class, so that a corpus can be sent to another process."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __call__(self, documents: Iterable[Document]) -> Iterator[str]:
        return (self._texts[document.path] for document in documents)
