"""Functions and retrievers as searches; the classes here have the interfaces of the real ones."""

from dataclasses import dataclass, field
from math import isnan
from typing import Any

import pytest

from karat.engines.adapters.python import is_retriever, retriever
from karat.errors import EngineError, InputError
from karat.model import Hit


@dataclass
class Document:
    """A document of LangChain: text, metadata, and perhaps an id."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


@dataclass
class LangChainRetriever:
    documents: list[Any]

    def invoke(self, input: str) -> list[Any]:  # noqa: A002 - as in LangChain
        return self.documents


@dataclass
class TextNode:
    """A node of LlamaIndex."""

    metadata: dict[str, Any]
    node_id: str = "n1"
    ref_doc_id: str | None = None


@dataclass
class NodeWithScore:
    node: TextNode
    score: float | None


@dataclass
class LlamaIndexRetriever:
    nodes: list[NodeWithScore]

    def retrieve(self, str_or_query_bundle: str) -> list[NodeWithScore]:
        return self.nodes


@dataclass
class HaystackDocument:
    id: str
    meta: dict[str, Any]
    score: float | None = None


@dataclass
class HaystackRetriever:
    documents: list[HaystackDocument]

    def run(self, query: str, top_k: int | None = None) -> dict[str, list[HaystackDocument]]:
        return {"documents": self.documents[:top_k]}


def hits(target: object, k: int = 10, **options: Any) -> list[Hit]:
    return retriever(target, **options).search("login", k)


def test_langchain_documents_are_found_by_their_source() -> None:
    documents = [Document("x", {"source": "a.py", "start": 1}), Document("y", {"score": 0.5}, "b")]
    answer = hits(LangChainRetriever(documents))
    assert [hit.path for hit in answer] == ["a.py", "b"]
    assert isnan(answer[0].score)
    assert answer[1].score == 0.5
    pairs: list[Any] = [(documents[0], 0.25)]
    assert hits(LangChainRetriever(pairs)) == [Hit("a.py", 0.25)]


def test_llama_index_nodes_have_scores() -> None:
    nodes = [
        NodeWithScore(TextNode({"file_path": "a.py", "start_line": 3, "end_line": 9}), 0.9),
        NodeWithScore(TextNode({}, ref_doc_id="doc"), None),
        NodeWithScore(TextNode({}, "alone"), 0.1),
    ]
    answer = hits(LlamaIndexRetriever(nodes))
    assert answer[0] == Hit("a.py", 0.9, 3, 9)
    assert [hit.path for hit in answer[1:]] == ["doc", "alone"]


def test_haystack_components_are_given_k() -> None:
    documents = [HaystackDocument("h1", {"file_path": "a.py"}, 2.0), HaystackDocument("h2", {})]
    assert hits(HaystackRetriever(documents), k=1) == [Hit("a.py", 2.0)]
    assert [hit.path for hit in hits(HaystackRetriever(documents))] == ["a.py", "h2"]

    class Plain:
        def run(self, query: str) -> dict[str, list[HaystackDocument]]:
            return {"documents": documents}

    assert len(hits(Plain(), k=1)) == 1


def test_functions_return_ids_pairs_dictionaries_or_hits() -> None:
    def answer(query: str, k: int) -> list[Any]:
        return [
            *("a", ("b", 2), ["c", 1.5], Hit("d", 1.0)),
            *({"path": "e", "score": 0.5}, {"metadata": {"source": "f"}}),
        ][:k]

    assert [hit.path for hit in hits(answer)] == ["a", "b", "c", "d", "e", "f"]
    assert [hit.score for hit in hits(answer)[1:5]] == [2.0, 1.5, 1.0, 0.5]
    assert retriever(answer).name == "answer"
    assert hits(lambda query, k: {"a": 2.0, "b": 1.0}) == [Hit("a", 2.0), Hit("b", 1.0)]


def test_a_function_may_take_the_query_alone_or_k_by_name() -> None:
    def keyword(query: str, *, k: int) -> list[str]:
        return ["a", "b", "c"][:k]

    class Bare:
        def __call__(self, *arguments: object) -> list[str]:
            return [str(len(arguments))]

    assert hits(lambda query: [query]) == [Hit("login")]
    assert len(hits(keyword, k=2)) == 2
    assert hits(Bare()) == [Hit("2")]
    assert retriever(Bare()).name == "Bare"
    # A built-in type without a signature is called with both.
    assert is_retriever(max)


def test_the_metadata_with_the_document_can_be_chosen() -> None:
    target = LangChainRetriever([Document("x", {"source": "chunk-7", "parent": "a.py"})])
    assert hits(target, key="parent") == hits(lambda query: ["a.py"])
    with pytest.raises(EngineError, match=r"keys source, parent; choose one with karat\.run"):
        hits(target, key="path")
    with pytest.raises(
        EngineError, match="Document has no document id; its metadata has the keys none"
    ):
        hits(LangChainRetriever([Document("x")]))


@pytest.mark.parametrize("answer", [3, "a.py", None])
def test_an_answer_that_is_no_list_is_an_error(answer: object) -> None:
    with pytest.raises(EngineError, match="expected a list of document ids"):
        hits(lambda query: answer)


def test_what_a_search_raises_is_an_error_of_the_engine() -> None:
    def broken(query: str, k: int) -> list[str]:
        raise KeyError(query)

    with pytest.raises(EngineError, match="broken: KeyError: 'login'"):
        hits(broken)
    with pytest.raises(EngineError, match="score 'high' is not a number"):
        hits(lambda query: [("a", "high")])
    assert isnan(hits(lambda query: [("a", float("inf"))])[0].score)


class Indexing:
    """An engine of Karat's own protocol."""

    def index(self, corpus: object) -> None:
        """Take the corpus."""

    def search(self, query: str, k: int) -> list[Hit]:
        return []


class RetrievalAgent:
    def initialize(self, repo_path: str) -> None:
        """Take the folder."""

    def retrieve(self, query: str) -> object:
        return None


class Unrelated:
    def run(self, data: object) -> object:
        return data


@pytest.mark.parametrize("target", [Indexing(), RetrievalAgent(), Unrelated(), 3, Indexing])
def test_engines_and_other_objects_are_no_retrievers(target: object) -> None:
    assert not is_retriever(target)
    with pytest.raises(
        InputError, match="is not an engine; expected an engine's name, a YAML file"
    ):
        retriever(target)
