"""Mask lines of documents: a gold set hides the text that its queries were made from."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

from karat.corpus.chunkers.base import lines_of
from karat.corpus.git.objects import blob_id
from karat.corpus.snapshot import Corpus, Document, Reader
from karat.errors import InputError
from karat.model.dataset import MASKS

__all__ = ["FileMasks", "Mask", "mask_corpus", "mask_text", "masks_from", "masks_json"]


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
    for start, end, shown in masks:
        for row in range(start - 1, min(end, len(lines))):
            line_end = "\n" if lines[row].endswith("\n") else ""
            lines[row] = (shown if row == start - 1 else "") + line_end
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
        wanted = list(documents)
        texts = self._reader(self._originals.get(each.path, each) for each in wanted)
        for document, text in zip(wanted, texts, strict=True):
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
