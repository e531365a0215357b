"""The text that a reranker reads is the text that was embedded."""

from collections.abc import Iterable, Iterator

from karat.corpus import Corpus, Document, chunk_corpus, create_chunker, from_texts, header
from karat.engines.rerank.engine import Passages
from karat.model import Hit

GUIDE = "# Login\n\nGive a password.\n\n" + "More of it.\n" * 200 + "\n# Mail\n\nSend it.\n"
CODE = "".join(f"class C{n}:\n    def m{n}(self):\n        return {n}\n\n\n" for n in range(200))
CORPUS = from_texts({"a.md": GUIDE, "src/b.py": CODE})


def test_a_chunk_has_the_header_of_its_embedding() -> None:
    chunked = list(chunk_corpus(CORPUS, create_chunker()))
    assert len(chunked) > 4
    hits = [Hit(path, 1.0, chunk.start_line, chunk.end_line) for path, chunk in chunked]
    expected = [f"{header(chunk, path)}\n{chunk.text}" for path, chunk in chunked]
    assert Passages(CORPUS).texts(hits) == expected


def test_other_lines_have_the_header_of_the_chunk_that_they_begin_in() -> None:
    passages = Passages(CORPUS)
    assert passages.texts([Hit("a.md", 1.0, 3, 4)]) == ["a.md\nLogin\nGive a password.\n\n"]
    assert passages.texts([Hit("a.md", 1.0)]) == [f"a.md\n{GUIDE}"]
    blank = Passages(from_texts({"x.md": "\n\n\n# Late\n"}))
    assert blank.texts([Hit("x.md", 1.0, 1, 2)]) == ["x.md\n\n\n"]


def test_a_file_is_read_once_for_all_its_hits() -> None:
    read: list[str] = []

    def reader(documents: Iterable[Document]) -> Iterator[str]:
        some = list(documents)
        read.extend(document.path for document in some)
        return CORPUS.reader(some)

    passages = Passages(Corpus("counted", CORPUS.documents, reader))
    hits = [Hit("a.md", 1.0, 1, 3), Hit("src/b.py", 1.0, 1, 3), Hit("a.md", 1.0, 3, 3)]
    first = passages.texts(hits)
    assert passages.texts(hits[::-1]) == first[::-1]
    assert sorted(read) == ["a.md", "src/b.py"]
