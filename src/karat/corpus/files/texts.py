"""A corpus of texts at hand: uploaded documents, or a BEIR ``corpus.jsonl``."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from karat.corpus.chunkers.definitions import language_of
from karat.corpus.files.content import MAX_BYTES, Intake, Look, content_traits
from karat.corpus.git.objects import blob_id
from karat.corpus.snapshot import Corpus, Document
from karat.errors import FormatError, InputError, Problem

__all__ = ["from_beir", "from_texts"]


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
    """Gives the texts at hand; a class, so that a corpus can be sent to another process."""

    def __init__(self, texts: Mapping[str, str]) -> None:
        self._texts = texts

    def __call__(self, documents: Iterable[Document]) -> Iterator[str]:
        return (self._texts[document.path] for document in documents)


def from_beir(path: str | Path, *, name: str | None = None, max_bytes: int = MAX_BYTES) -> Corpus:
    """Return the corpus of a BEIR folder, or of its ``corpus.jsonl`` (perhaps ``.gz``).

    The path of a document is its ``_id``; its text is the title, a blank line, and the text, or
    only the text where there is no title. All bad lines are reported at once.
    """
    file = _corpus_file(Path(path))
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for line, data in enumerate(_lines(file), 1):
        if not data.strip():
            continue
        problem = _add(data, texts)
        if problem:
            problems.append(Problem(str(file), line, problem))
    if problems:
        raise FormatError(problems)
    corpus = from_texts(texts, name=name or file.parent.name, max_bytes=max_bytes)
    # An id is no file name: "st.john" is no language called "john".
    prose = tuple(Document(d.path, d.blob, d.size, "text") for d in corpus.documents)
    return replace(corpus, documents=prose)


def _corpus_file(path: Path) -> Path:
    names = (path / "corpus.jsonl", path / "corpus.jsonl.gz") if path.is_dir() else (path,)
    for file in names:
        if file.is_file():
            return file
    raise InputError(f"{path}: no corpus.jsonl; expected a BEIR folder or its corpus file")


def _lines(path: Path) -> Iterator[bytes]:
    if path.suffix == ".gz":
        import gzip

        with gzip.open(path) as stream:
            yield from stream
    else:
        with path.open("rb") as stream:
            yield from stream


def _add(data: bytes, texts: dict[str, str]) -> str:
    """Put the document of one line into *texts*; return what is wrong with it, or ""."""
    try:
        row = json.loads(data)
    except ValueError as error:
        return f"no JSON: {error}"
    label = row.get("_id") if isinstance(row, dict) else None
    if not isinstance(label, str | int) or label == "":
        return "expected an object with an '_id'"
    title, text = row.get("title") or "", row.get("text")
    if not isinstance(text, str) or not isinstance(title, str):
        return "'text' is missing, or it or 'title' is no string"
    if str(label) in texts:
        return f"_id {label!r} appears twice"
    texts[str(label)] = f"{title}\n\n{text}" if title.strip() else text
    return ""
