"""Search by words: a code-aware tokeniser, BM25 over snapshots, and the plain scan for words."""

from karat.engines.lexical.index import BM25, DocumentRanking, LexicalIndex, Query, TermScore, View
from karat.engines.lexical.postings import Document
from karat.engines.lexical.tokens import TokenRules

__all__ = [
    "BM25",
    "Document",
    "DocumentRanking",
    "LexicalIndex",
    "Query",
    "TermScore",
    "TokenRules",
    "View",
]
