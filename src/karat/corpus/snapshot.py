"""A corpus: one snapshot of documents, which engines index, with or without masked lines."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from hashlib import sha1, sha256
from pathlib import Path
from typing import NamedTuple

from karat.corpus.chunkers.base import lines_of
from karat.corpus.files.traits import Trait
from karat.errors import InputError, UnknownName
from karat.model.dataset import MASKS
from karat.system.words import counted


class Document(NamedTuple):
    """One text of a corpus; *blob* is the hash of its bytes, *size* their number.

    For a text that was extracted from a file of another format, *blob* is the hash of the text and
    *source* that of the file.
    """

    path: str
    blob: str
    size: int
    language: str = ""
    traits: Trait = Trait.NONE
    source: str = ""


Reader = Callable[[Iterable[Document]], Iterator[str]]


@dataclass(frozen=True, eq=False)
class Corpus:
    """Documents sorted by path, and a way to read them; it holds no text itself.

    *skipped* counts by reason the files that were left out, *skipped_files* has the reason of each
    one that could not be read, and *notes* counts documents with a remark (an unusual encoding).
    *hidden* are the paths of documents that were left out of a larger corpus.
    Two corpora with the same paths and contents have the same *snapshot*, wherever they come from.

    >>> from karat.corpus import from_texts
    >>> corpus = from_texts({"b.py": "b = 1", "a.md": "# A"}, name="notes")
    >>> [document.path for document in corpus], corpus.read("a.md"), corpus.snapshot[:12]
    (['a.md', 'b.py'], '# A', '5b0ca59fe098')
    """

    name: str
    documents: Sequence[Document]
    reader: Reader = field(repr=False)
    skipped: Mapping[str, int] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)
    skipped_files: Mapping[str, str] = field(default_factory=dict, repr=False)
    hidden: Collection[str] = field(default=frozenset(), repr=False)

    def __repr__(self) -> str:
        """Return one line: name, number of documents, and of those left out."""
        skipped = f", {sum(self.skipped.values()):,} skipped" if self.skipped else ""
        return f"<Corpus {self.name}: {counted(len(self), 'document')}{skipped}>"

    def __len__(self) -> int:
        return len(self.documents)

    def __iter__(self) -> Iterator[Document]:
        return iter(self.documents)

    @cached_property
    def snapshot(self) -> str:
        """Return the SHA-256 over all paths and contents."""
        digest = sha256()
        for document in self.documents:
            # A path may hold anything but NUL.
            digest.update(f"{document.path}\0{document.blob}\0".encode())
        return digest.hexdigest()

    @property
    def folder(self) -> Path | None:
        """Return the folder on disk that has the documents under their paths, if there is one.

        It may contain other files.
        """
        root = getattr(self.reader, "root", None)
        return None if root is None else Path(root)

    @cached_property
    def by_path(self) -> Mapping[str, Document]:
        """Return the documents by their paths."""
        # A table of many documents finds them without a dictionary of all.
        own: Mapping[str, Document] | None = getattr(self.documents, "by_path", None)
        return {document.path: document for document in self.documents} if own is None else own

    def read(self, path: str) -> str:
        """Return the text at *path*, with LF line ends."""
        document = self.by_path.get(path)
        if document is None:
            raise UnknownName(f"no document {path!r} in corpus {self.name!r}")
        return next(iter(self.reader((document,))))

    def texts(self) -> Iterator[tuple[Document, str]]:
        """Yield every document with its text, in order; faster than :meth:`read` one by one."""
        return zip(self.documents, self.reader(self.documents), strict=True)

    def without(self, traits: Trait) -> "Corpus":
        """Return the corpus without documents that have any of *traits*; they count as skipped."""
        # Flags are slow to look at, and there are few combinations of them.
        reasons = {own: _first(own & traits) for own in {d.traits for d in self.documents}}
        return self.without_documents(lambda document: reasons[document.traits])

    def without_documents(self, reason: Callable[[Document], str]) -> "Corpus":
        """Return the corpus without documents that have a *reason*; they count as skipped."""
        visible = []
        hidden = set(self.hidden)
        skipped = Counter(self.skipped)
        for document in self.documents:
            if why := reason(document):
                skipped[why] += 1
                hidden.add(document.path)
            else:
                visible.append(document)
        return replace(self, documents=tuple(visible), skipped=dict(skipped), hidden=hidden)

    def below(self, folder: str) -> "Corpus":
        """Return the documents below *folder*, by their paths as they are; "" means all."""
        start = f"{folder.strip('/')}/"
        if start == "/":
            return self
        below = tuple(document for document in self.documents if document.path.startswith(start))
        files = {path: why for path, why in self.skipped_files.items() if path.startswith(start)}
        return replace(
            self,
            documents=below,
            skipped=dict(sorted(Counter(files.values()).items())),
            skipped_files=files,
        )


def _first(traits: Trait) -> str:
    """Return the name of the first of *traits*, "" for none."""
    return next((str(trait.name).lower() for trait in traits), "")


class Delta(NamedTuple):
    """Documents of the later snapshot that are new or have another content, and those gone."""

    added: tuple[Document, ...]
    changed: tuple[Document, ...]
    removed: tuple[Document, ...]


def delta(before: Corpus, after: Corpus) -> Delta:
    """Return the changes from *before* to *after* by path; a rename is a removal and an addition.

    >>> from karat.corpus import from_texts
    >>> step = delta(from_texts({"a": "1", "b": "2"}), from_texts({"b": "3", "c": "4"}))
    >>> [[document.path for document in documents] for documents in step]
    [['c'], ['b'], ['a']]
    """
    old, new = before.by_path, after.by_path
    there = [document for document in after if document.path in old]
    return Delta(
        added=tuple(document for document in after if document.path not in old),
        changed=tuple(d for d in there if d.blob != old[d.path].blob),
        removed=tuple(document for document in before if document.path not in new),
    )


def blob_id(data: bytes) -> str:
    r"""Return the id that Git gives to *data*, so that a folder and a revision agree.

    >>> blob_id(b"hello\n")
    'ce013625030ba8dba906f756967f9e9ca394464a'
    """
    # SHA-1 as in Git; it identifies content and is not used for security.
    return sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()


class Mask(NamedTuple):
    """Lines to hide, from 1, both ends inclusive; *text* replaces the first of them.

    All other lines become empty, so that line numbers stay the same.
    """

    start_line: int
    end_line: int
    text: str = ""


class FileMasks(NamedTuple):
    """The masks of one document, and the *blob* of the version that they were made for."""

    blob: str
    masks: tuple[Mask, ...]


def mask_text(text: str, masks: Iterable[Mask]) -> str:
    r"""Return *text* with the lines of *masks* hidden.

    >>> mask_text("# Title\none\ntwo\n", [Mask(1, 1, "# …"), Mask(3, 3)])
    '# …\none\n\n'
    """
    lines = lines_of(text)
    for start, end, replacement in masks:
        for row in range(start - 1, min(end, len(lines))):
            line_end = "\n" if lines[row].endswith("\n") else ""
            lines[row] = (replacement if row == start - 1 else "") + line_end
    return "".join(lines)


def mask_corpus(corpus: Corpus, masks: Mapping[str, FileMasks]) -> Corpus:
    """Return *corpus* with the lines of *masks* hidden; paths without a document are ignored.

    A masked document has another blob, so that caches and snapshots do not confuse it with the
    original. The corpus has no folder on disk: an external engine gets a copy. InputError is raised
    if a document is not the version that its masks were made for.
    """
    if not masks:
        return corpus
    originals: dict[str, Document] = {}
    documents = []
    for document in corpus.documents:
        own = masks.get(document.path)
        if own is None or not own.masks:
            documents.append(document)
            continue
        if own.blob != document.blob:
            raise InputError(
                f"{document.path} has changed since the gold set was generated, so the lines to "
                "mask are unknown; generate the set again (karat generate --from), or search the "
                "revision that it was generated from"
            )
        originals[document.path] = document
        blob = blob_id(f"{document.blob}\0{own.masks}".encode())
        documents.append(document._replace(blob=blob))
    if not originals:
        return corpus
    used = {path: masks[path].masks for path in originals}
    reader = _MaskedReader(corpus.reader, originals, used)
    return replace(corpus, documents=tuple(documents), reader=reader)


class _MaskedReader:
    """Reads documents through *reader* and masks them; a class, so that it can be pickled."""

    def __init__(
        self,
        reader: Reader,
        originals: Mapping[str, Document],
        masks: Mapping[str, tuple[Mask, ...]],
    ) -> None:
        self._reader = reader
        self._originals = originals
        self._masks = masks

    def __call__(self, documents: Iterable[Document]) -> Iterator[str]:
        requested = list(documents)
        texts = self._reader(self._originals.get(each.path, each) for each in requested)
        for document, text in zip(requested, texts, strict=True):
            masks = self._masks.get(document.path)
            yield mask_text(text, masks) if masks else text


def masks_json(masks: Mapping[str, FileMasks]) -> dict[str, object]:
    """Return *masks* as JSON: the blob of each path, and its ranges of lines.

    >>> masks_json({"a.md": FileMasks("b0", (Mask(3, 4), Mask(9, 9, "# …")))})
    {'a.md': {'blob': 'b0', 'lines': [[3, 4], [9, 9, '# …']]}}
    """
    return {
        path: {
            "blob": file.blob,
            "lines": [list(mask) if mask.text else list(mask[:2]) for mask in file.masks],
        }
        for path, file in sorted(masks.items())
    }


def masks_from(value: object, *, name: str) -> dict[str, FileMasks]:
    """Return the masks in the JSON *value*; InputError with *name* if they are malformed."""
    if not value:
        return {}
    try:
        return {
            str(path): FileMasks(str(file["blob"]), tuple(_mask(row) for row in file["lines"]))
            for path, file in value.items()  # type: ignore[attr-defined]
        }
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise InputError(
            f"{name}: 'metadata.{MASKS}' is not a set of masks as karat generate writes it"
        ) from error


def _mask(row: Sequence[object]) -> Mask:
    start, end, *text = row
    mask = Mask(int(str(start)), int(str(end)), *map(str, text))
    if not 1 <= mask.start_line <= mask.end_line:
        raise ValueError(mask)
    return mask
