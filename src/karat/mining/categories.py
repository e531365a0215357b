"""What kind of question a query is, by its words.

These five are the categories that mining gives; a dataset may hold any other tag.
"""

from enum import StrEnum

from karat.mining.words import content_words, is_identifier

__all__ = ["Category", "category"]


class Category(StrEnum):
    """A kind of question."""

    ERROR = "error_search"
    API = "api_search"
    PATTERN = "pattern_search"
    FUNCTION = "function_search"
    CONCEPT = "concept_search"


# The first line that shares a word with the query decides.
_WORDS = {
    Category.ERROR: """
        abort assertion broken bug corrupt crash crashes crashed crashing deadlock error errors
        exception exceptions fail failed failing fails failure failures hang hangs invalid leak
        leaks overflow panic panics race raise raised raises raising regression segfault stacktrace
        traceback unhandled warning warnings wrong
    """,
    Category.API: """
        api apis arg args argument arguments attribute endpoint endpoints flag flags header headers
        interface kwarg kwargs option options param parameter parameters params public request
        response setting settings signature
    """,
    Category.PATTERN: """
        adapter backend builder callback decorator decorators dispatch dispatcher event events
        factory handler handlers hook hooks iterator listener middleware mixin observer pattern
        plugin plugins proxy registry signal signals singleton strategy visitor wrapper
    """,
}
_TABLE = tuple((name, frozenset(words.split())) for name, words in _WORDS.items())


def category(query: str) -> Category:
    """Return the kind of question that *query* is.

    Words decide first; else a name out of code makes it a search for a function, and anything
    else asks about a concept.

    >>> [category(query).value for query in ("crash on empty body", "where is getUser used")]
    ['error_search', 'function_search']
    """
    words = content_words(query)
    for name, cues in _TABLE:
        if not cues.isdisjoint(words):
            return name
    return Category.FUNCTION if any(map(is_identifier, query.split())) else Category.CONCEPT
