"""A corpus of texts at hand: uploaded documents, or the corpus of a BEIR or Hugging Face folder."""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from karat.corpus.chunkers.definitions import language_of
from karat.corpus.files.content import MAX_BYTES, Intake, Look, content_traits
from karat.corpus.git.objects import blob_id
from karat.corpus.snapshot import Corpus, Document
from karat.errors import FormatError, InputError, Problem
from karat.system.tables import part_files, read_frame

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
    """Return the corpus of a BEIR or Hugging Face folder, or of its corpus file.

    The file is ``corpus.jsonl`` (perhaps ``.gz``) or Parquet, perhaps in several parts. The path of
    a document is its ``_id`` (or ``id``); its text is the title, a blank line, and the text, or
    only the text where there is no title. All bad rows are reported at once.
    """
    place = Path(path)
    files = part_files(place, "corpus") if place.is_dir() else [place] * place.is_file()
    if not files:
        raise InputError(f"{path}: no corpus.jsonl; expected a BEIR folder or its corpus file")
    texts: dict[str, str] = {}
    problems: list[Problem] = []
    for file in files:
        parquet = file.suffix == ".parquet"
        for number, row in enumerate(_rows(file), 1):
            problem = row if isinstance(row, str) else _add(row, texts)
            if problem:
                said = f"row {number}: {problem}" if parquet else problem
                problems.append(Problem(str(file), 0 if parquet else number, said))
    if problems:
        raise FormatError(problems)
    folder = place if place.is_dir() else place.parent
    corpus = from_texts(texts, name=name or folder.name, max_bytes=max_bytes)
    # An id is no file name: "st.john" is no language called "john".
    prose = tuple(Document(d.path, d.blob, d.size, "text") for d in corpus.documents)
    return replace(corpus, documents=prose)


def _rows(file: Path) -> Iterator[object]:
    """Yield the value of each line or row; for a line that is not JSON, the problem as text."""
    if file.suffix == ".parquet":
        yield from read_frame(file).iter_rows(named=True)
        return
    for data in _lines(file):
        if not data.strip():
            yield None
            continue
        try:
            value = json.loads(data)
        except ValueError as error:
            yield f"no JSON: {error}"
        else:
            yield value if isinstance(value, dict) else []


def _lines(path: Path) -> Iterator[bytes]:
    if path.suffix == ".gz":
        import gzip

        with gzip.open(path) as stream:
            yield from stream
    else:
        with path.open("rb") as stream:
            yield from stream


def _add(row: object, texts: dict[str, str]) -> str:
    """Put the document *row* into *texts*; return the problem, or ""."""
    if row is None:
        return ""
    fields = row if isinstance(row, dict) else {}
    label = fields.get("_id", fields.get("id"))
    if not isinstance(label, str | int) or label == "":
        return "expected an object with an '_id'"
    title, text = fields.get("title") or "", fields.get("text")
    if not isinstance(text, str) or not isinstance(title, str):
        return "'text' is missing, or it or 'title' is no string"
    if str(label) in texts:
        return f"_id {label!r} appears twice"
    texts[str(label)] = f"{title}\n\n{text}" if title.strip() else text
    return ""
