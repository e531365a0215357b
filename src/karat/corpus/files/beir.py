"""The corpus of a BEIR or Hugging Face folder: a million documents in a hundred bytes each."""

import json
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import accumulate
from pathlib import Path
from typing import BinaryIO, NamedTuple, cast, overload

from karat.corpus.files.content import MAX_BYTES
from karat.corpus.snapshot import Corpus, Document, blob_id
from karat.errors import FormatError, InputError, Problem
from karat.system.tables import part_files, read_frame

BLOB_BYTES = 20


def from_beir(path: str | Path, *, name: str | None = None, max_bytes: int = MAX_BYTES) -> Corpus:
    """Return the corpus of a BEIR or Hugging Face folder, or of its corpus file.

    The file is ``corpus.jsonl`` (perhaps ``.gz``) or Parquet, perhaps in several parts. The path of
    a document is its ``_id`` (or ``id``); its text is the title, a blank line, and the text, or
    only the text where there is no title. All bad rows are reported at once. Texts of JSON lines
    stay in their file and are read again when they are needed; others are held in memory.
    """
    location = Path(path)
    files = part_files(location, "corpus") if location.is_dir() else [location] * location.is_file()
    if not files:
        raise InputError(f"{path}: no corpus.jsonl; expected a BEIR folder or its corpus file")
    folder = location if location.is_dir() else location.parent
    intake = _Intake(name or folder.name, max_bytes)
    problems: list[Problem] = []
    for file in files:
        parquet = file.suffix == ".parquet"
        for number, row in enumerate(_read_rows(file, intake.texts), 1):
            problem = intake.add(row)
            if problem:
                said = f"row {number}: {problem}" if parquet else problem
                problems.append(Problem(str(file), 0 if parquet else number, said))
    if problems:
        raise FormatError(problems)
    return intake.corpus()


class _Row(NamedTuple):
    """A line or row: its value, or for a line that is not JSON the *problem*; and its bytes."""

    value: object
    byte_range: "_ByteRange | None" = None
    problem: str = ""


class _ByteRange(NamedTuple):
    """The bytes of a line: the number of its file, the first byte, and how many."""

    file: int
    start: int
    length: int


def _read_rows(file: Path, texts: "_TextStore") -> Iterator[_Row]:
    if file.suffix == ".parquet":
        for row in read_frame(file).iter_rows(named=True):
            yield _Row(row)
        return
    number = None if file.suffix == ".gz" else texts.file_number(file)
    start = 0
    with _opened(file) as stream:
        for data in stream:
            byte_range = None if number is None else _ByteRange(number, start, len(data))
            start += len(data)
            try:
                yield _Row(_parsed(data), byte_range)
            except ValueError as error:
                yield _Row(None, problem=f"not JSON: {error}")


def _opened(path: Path) -> BinaryIO:
    if path.suffix == ".gz":
        import gzip

        return cast("BinaryIO", gzip.open(path))
    return path.open("rb")


def _parsed(line: bytes) -> object:
    """Return the object of a line; None for a blank line, and a list for any other value."""
    if not line.strip():
        return None
    value = json.loads(line)
    return value if isinstance(value, dict) else []


def _fields(row: Mapping[str, object]) -> tuple[str, str] | str:
    """Return the id and the text of *row*, or the problem."""
    label = row.get("_id", row.get("id"))
    if not isinstance(label, str | int) or label == "":
        return "expected an object with an '_id'"
    title, text = row.get("title") or "", row.get("text")
    if not isinstance(text, str) or not isinstance(title, str):
        return "'text' is missing, or it or 'title' is not a string"
    return str(label), f"{title}\n\n{text}" if title.strip() else text


class _Intake:
    """The documents so far, in the order of the files."""

    def __init__(self, name: str, max_bytes: int) -> None:
        self.texts = _TextStore()
        self._name = name
        self._max_bytes = max_bytes
        self._seen: set[str] = set()
        self._paths: list[str] = []
        self._blobs = bytearray()
        self._sizes = array("I")
        self._skipped: dict[str, str] = {}

    def add(self, row: _Row) -> str:
        """Add the document of *row*; return the problem, or ""."""
        if row.problem or row.value is None:
            return row.problem
        fields = _fields(row.value if isinstance(row.value, dict) else {})
        if isinstance(fields, str):
            return fields
        path, text = fields
        if path in self._seen:
            return f"_id {path!r} appears twice"
        if "\0" in path:
            raise InputError(f"{self._name}: a path is {path!r}; expected a name without NUL")
        self._seen.add(path)
        try:
            data = text.encode()
            path.encode()
        except UnicodeEncodeError:
            self._skipped[path] = "not-unicode"
            return ""
        if len(data) > self._max_bytes or "\0" in text:
            self._skipped[path] = "binary" if len(data) <= self._max_bytes else "too-large"
            return ""
        self._paths.append(path)
        self._blobs += bytes.fromhex(blob_id(data))
        self._sizes.append(len(data))
        self.texts.add(row.byte_range, data)
        return ""

    def corpus(self) -> Corpus:
        """Return the corpus, sorted by path."""
        self._seen.clear()
        order = array("I", sorted(range(len(self._paths)), key=self._paths.__getitem__))
        documents = DocumentTable(
            [self._paths[number] for number in order],
            b"".join(self._blobs[BLOB_BYTES * n : BLOB_BYTES * (n + 1)] for n in order),
            array("I", map(self._sizes.__getitem__, order)),
        )
        self._paths.clear()
        self.texts.sort(order)
        skipped = dict(sorted(Counter(self._skipped.values()).items()))
        reader = _Reader(documents, self.texts)
        return Corpus(self._name, documents, reader, skipped, {}, self._skipped)


class DocumentTable(Sequence[Document]):
    """Documents of prose as columns; a :class:`Document` is made when one is looked at.

    *paths* ascend; *blobs* has 20 bytes for each.

    >>> table = DocumentTable(["a", "b"], bytes(40), array("I", [1, 2]))
    >>> table[1].path, table.by_path["a"].size, table.find("c"), len(table[:1])
    ('b', 1, None, 1)
    """

    def __init__(self, paths: Sequence[str], blobs: bytes, sizes: "array[int]") -> None:
        """Pack *paths* into one string of bytes."""
        self._paths = "".join(paths).encode()
        lengths = map(len, map(str.encode, paths))
        self._ends = array("Q", accumulate(lengths, initial=0))
        self._blobs = blobs
        self._sizes = sizes

    def __len__(self) -> int:
        return len(self._sizes)

    @overload
    def __getitem__(self, index: int) -> Document: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Document, ...]: ...

    def __getitem__(self, index: int | slice) -> Document | tuple[Document, ...]:
        if isinstance(index, slice):
            return tuple(map(self._document, range(*index.indices(len(self)))))
        return self._document(range(len(self))[index])

    def __iter__(self) -> Iterator[Document]:
        return map(self._document, range(len(self)))

    def _document(self, number: int) -> Document:
        blob = self._blobs[BLOB_BYTES * number : BLOB_BYTES * (number + 1)].hex()
        # An id is not a file name: "st.john" is not in a language called "john".
        return Document(self.path(number), blob, self._sizes[number], "text")

    def path(self, number: int) -> str:
        """Return the path of one document."""
        return self._key(number).decode()

    def find(self, path: str) -> int | None:
        """Return the number of the document at *path*."""
        key = path.encode("utf-8", "surrogatepass")
        number = bisect_left(range(len(self)), key, key=self._key)
        return number if number < len(self) and self._key(number) == key else None

    @property
    def by_path(self) -> Mapping[str, Document]:
        """Return the documents by their paths, without a copy."""
        return _ByPath(self)

    def _key(self, number: int) -> bytes:
        return self._paths[self._ends[number] : self._ends[number + 1]]


class _ByPath(Mapping[str, Document]):
    """The documents of a table by path."""

    def __init__(self, table: DocumentTable) -> None:
        self._table = table

    def __getitem__(self, path: str) -> Document:
        number = self._table.find(path)
        if number is None:
            raise KeyError(path)
        return self._table[number]

    def __iter__(self) -> Iterator[str]:
        return map(self._table.path, range(len(self._table)))

    def __len__(self) -> int:
        return len(self._table)


# The file number that marks texts in memory.
IN_MEMORY = -1


class _TextStore:
    """Where the text of each document is: a line of a file, or bytes in memory."""

    def __init__(self) -> None:
        self._files: list[str] = []
        self._file = array("i")
        self._start = array("Q")
        self._length = array("I")
        self._memory = bytearray()

    def file_number(self, file: Path) -> int:
        """Return the number of *file*, whose lines are read again."""
        self._files.append(str(file))
        return len(self._files) - 1

    def add(self, byte_range: _ByteRange | None, data: bytes) -> None:
        """Add a text of *byte_range*, or in memory."""
        if byte_range is None:
            byte_range = _ByteRange(IN_MEMORY, len(self._memory), len(data))
            self._memory += data
        for column, value in zip((self._file, self._start, self._length), byte_range, strict=True):
            column.append(value)

    def sort(self, order: Sequence[int]) -> None:
        """Put the texts into *order*."""
        self._file = array("i", map(self._file.__getitem__, order))
        self._start = array("Q", map(self._start.__getitem__, order))
        self._length = array("I", map(self._length.__getitem__, order))

    @contextmanager
    def opened(self) -> Iterator[Callable[[int], bytes]]:
        """Return a function from the number of a text to its bytes.

        The bytes are empty for a line that is not a document any more.
        """
        with ExitStack() as stack:
            # Unbuffered: a buffer would be read again for each line.
            files = [
                stack.enter_context(Path(file).open("rb", buffering=0)) for file in self._files
            ]

            def read(number: int) -> bytes:
                file, start, length = self._file[number], self._start[number], self._length[number]
                if file == IN_MEMORY:
                    return bytes(self._memory[start : start + length])
                files[file].seek(start)
                return _text_of(files[file].read(length))

            yield read


def _text_of(line: bytes) -> bytes:
    try:
        value = _parsed(line)
    except ValueError:
        return b""
    fields = _fields(value) if isinstance(value, dict) else ""
    return b"" if isinstance(fields, str) else fields[1].encode("utf-8", "surrogatepass")


class _Reader:
    """Reads documents of a table, and raises InputError for those that have changed."""

    def __init__(self, table: DocumentTable, texts: _TextStore) -> None:
        self._table = table
        self._texts = texts

    def __call__(self, documents: Iterable[Document]) -> Iterator[str]:
        # Documents mostly follow one another.
        number: int | None = -1
        with self._texts.opened() as read:
            for document in documents:
                number = 0 if number is None else number + 1
                if number >= len(self._table) or self._table.path(number) != document.path:
                    number = self._table.find(document.path)
                data = b"" if number is None else read(number)
                if blob_id(data) != document.blob:
                    raise InputError(f"document {document.path!r} changed since the snapshot")
                yield data.decode().replace("\r\n", "\n")
