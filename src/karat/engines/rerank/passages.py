"""The text behind a hit, with the header that embeddings see before it."""

from collections.abc import Sequence
from copy import copy

from karat.corpus import Chunk, Corpus, Document, create_chunker, header
from karat.corpus.chunk import chunks_of
from karat.corpus.text_lines import lines_of
from karat.engines.rerank.recent import Recent
from karat.model import Hit

__all__ = ["Passages"]

MOST_CHARACTERS = 50_000_000

# A path, its first line and its last.
Range = tuple[str, int, int]


class Passages:
    r"""The texts of ranges of lines in *corpus*, read when they are first asked for.

    A header of path, scope and symbols stands before the lines: that of the same chunk, where the
    lines are one, and else of the chunk in which they begin. A whole file has only its path.

    >>> from karat.corpus import from_texts
    >>> passages = Passages(from_texts({"a.md": "# Login\n\nGive a password.\n"}))
    >>> passages.texts([Hit("a.md", 1.0, 3, 3), Hit("a.md", 0.5)])
    ['a.md\nLogin\nGive a password.\n', 'a.md\n# Login\n\nGive a password.\n']
    """

    def __init__(self, corpus: Corpus) -> None:
        """Read nothing yet."""
        self.corpus = corpus
        self._chunker = create_chunker()
        self._digest = self._chunker.spec.digest
        self._recent = Recent(self._read, most=MOST_CHARACTERS, size=len)

    def apart(self) -> "Passages":
        """Return the same for one more reader, who does not profit from what others have read."""
        other = copy(self)
        other._recent = self._recent.apart()  # noqa: SLF001 - a copy of this one
        return other

    def texts(self, hits: Sequence[Hit]) -> list[str]:
        """Return the text of each hit."""
        return self._recent.get([(hit.path, hit.start_line, hit.end_line) for hit in hits])

    def _read(self, ranges: Sequence[Range]) -> list[str]:
        documents = [self.corpus.by_path[path] for path in dict.fromkeys(r[0] for r in ranges)]
        read = zip(documents, self.corpus.reader(documents), strict=True)
        files = {document.path: (text, self._chunks(document, text)) for document, text in read}
        return [passage(*files[path], (path, start, end)) for path, start, end in ranges]

    def _chunks(self, document: Document, text: str) -> Sequence[Chunk]:
        split = self._chunker.split(text, document.language)
        return chunks_of(split, blob=document.blob, digest=self._digest)


def passage(text: str, chunks: Sequence[Chunk], place: Range) -> str:
    """Return the lines at *place* of a file, which has *text* and *chunks*, with their header."""
    path, start, end = place
    if start == 0:
        return f"{path}\n{text}"
    for chunk in chunks:
        if (chunk.start_line, chunk.end_line) == (start, end):
            return f"{header(chunk, path)}\n{chunk.text}"
    around = [chunk for chunk in chunks if chunk.start_line <= start]
    lines = "".join(lines_of(text)[start - 1 : end])
    return f"{header(around[-1], path) if around else path}\n{lines}"
