"""The same lexical search by Karat and by each peer that is installed, each with its own tokens."""

import importlib.util
import tempfile
from collections.abc import Callable, Sequence

Search = Callable[[str], object]


def karat(chunks: Sequence[str], k: int) -> Search:
    """Index with Karat and return its search."""
    from karat.engines.lexical import LexicalIndex

    index = LexicalIndex()
    index.add(chunks)
    index.view()
    return lambda query: index.search(query, k)


def bm25s(chunks: Sequence[str], k: int) -> Search:
    """Index with bm25s, compiled by numba, and return its search."""
    import bm25s as package

    def tokens(texts: Sequence[str], *, ids: bool) -> object:
        return package.tokenize(list(texts), stopwords="en", return_ids=ids, show_progress=False)

    retriever = package.BM25(method="lucene", backend="numba")
    retriever.index(tokens(chunks, ids=True), show_progress=False)
    return lambda query: retriever.retrieve(tokens([query], ids=False), k=k, show_progress=False)


def tantivy(chunks: Sequence[str], k: int) -> Search:
    """Index with tantivy, with two writers and English stems, and return its search."""
    import tantivy as package

    schema = package.SchemaBuilder()
    schema.add_text_field("body", stored=False, tokenizer_name="en_stem")
    schema.add_integer_field("number", stored=True)
    folder = tempfile.TemporaryDirectory()
    index = package.Index(schema.build(), path=folder.name)
    writer = index.writer(heap_size=256_000_000, num_threads=2)
    for number, chunk in enumerate(chunks):
        writer.add_document(package.Document(body=chunk, number=number))
    writer.commit()
    writer.wait_merging_threads()
    index.reload()
    searcher = index.searcher()

    def search(query: str, _keep: object = folder) -> object:
        words = "".join(c if c.isalnum() else " " for c in query).lower()
        found = searcher.search(index.parse_query(words, ["body"]), k).hits
        return [searcher.doc(address)["number"] for _, address in found]

    return search


def available() -> dict[str, Callable[[Sequence[str], int], Search]]:
    """Return the candidates whose package is installed, Karat first."""
    peers = {"karat": karat, "bm25s": bm25s, "tantivy": tantivy}
    return {name: build for name, build in peers.items() if importlib.util.find_spec(name)}
