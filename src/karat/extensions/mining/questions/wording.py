"""A question from a text of the corpus, and how its words are chosen."""

import re
from collections.abc import Sequence
from typing import NamedTuple

from karat.corpus.snapshot import Mask
from karat.extensions.mining.words import LEAST_WORDS, content_words, is_identifier, parts
from karat.model import Target

LONGEST_QUERY = 40
# One more sentence is taken if the first has fewer content words.
_FEW_WORDS = 4

_MARKERS = re.compile(r"^\s*(?:/\*+!?|//+!?|\*+/|\*+(?=\s|$)|#+!?|--+\s?\|?|;+)\s?")
_CLOSING = re.compile(r"\s*\*+/\s*$")
_QUOTES = re.compile(r'^\s*[rRuUbBfF]{0,2}("""|\'\'\'|"|\')')
# A line that ends the description: a tag, a field list, a section, code, a list, a table.
_END = re.compile(
    r"^\s*(?:@\w+|\\(?!brief)\w+|:\w[^:`]*:(?:\s|$)|\.\. |>>>|```|~~~|[-*+] |\d+[.)] |\||\+--"
    r"|[=~^-]{3,}|#+ |(?:args|arguments|parameters|params|returns?|raises|yields|examples?|notes?"
    r"|usage|see also|warning|attributes|todo|fixme|panics|errors|safety)\s*:?\s*$"
    r"|(?:args|arguments|parameters|params|returns|raises|yields|examples?|usage|e\.g\.)\s*:\s)",
    re.IGNORECASE,
)
_NOT_A_DESCRIPTION = re.compile(
    r"copyright|\blicen[cs]ed?\b|spdx|all rights reserved|inheritdoc|^(?:todo|fixme|xxx|hack)\b"
    r"|^deprecated\b|^see\b|eslint|nolint|noqa|pylint|clang-format|type: ignore|pragma|^internal:?$"
    r"|^(?:auto-?)?generated\b",
    re.IGNORECASE,
)
_MARKUP = (
    (re.compile(r"\{@\w+\s+([^}]*)\}"), r"\1"),  # Javadoc
    (
        re.compile(r":[\w:+.-]+:`(?:~[\w.]*?(\w+)|!?([^`<]*?)(?:\s*<[^`>]*>)?)`"),
        r"\1\2",
    ),  # RST role
    (re.compile(r"`([^`<]+?)\s*<[^`>]*>`_{0,2}"), r"\1"),  # RST link
    (re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])?"), r"\1"),  # Markdown link
    (re.compile(r"</?[A-Za-z][^<>]{0,80}>"), ""),
    (re.compile(r"[@\\](?:brief|short|summary)\s+"), ""),
    (re.compile(r"`+_{0,2}|\*\*|(?<!\w)\*(?=\w)|(?<=\w)\*(?!\w)"), ""),
    (re.compile(r"(?<!\w)_([^\W_][^_]*)_(?!\w)"), r"\1"),
    (re.compile(r"\|([\w .-]+)\||(?<!\w)\+([\w.]+)\+(?!\w)"), r"\1\2"),
)
_SENTENCE = re.compile(
    r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)[.!?][\"')\]]?(?=\s+(?:[A-Z`\"(]|e\.g|i\.e)|\s*$)"
)
_LEADING_VERB = re.compile(r"^(?:(?:is|are)(?: an?| the)?|[-:–—]+)\s+", re.IGNORECASE)
_RECEIVER = re.compile(r"^\(\W*\w+\)\s+")
_SPACES = re.compile(r"\s+")
_CHOPPED = re.compile(r"[_\W]+")


class Question(NamedTuple):
    """A query, its targets, and the kind of text that it was made from.

    *origin* is the document and line of that text; it orders and identifies questions. *language*
    is that of the first target. *reason* names the rule that drops the question ("" for none).
    """

    text: str
    targets: tuple[Target, ...]
    kind: str
    language: str
    origin: tuple[str, int]
    reason: str = ""


class Finding(NamedTuple):
    """The questions of one document, and masks that hide the texts they were made from.

    Each mask belongs to the question at the same index; *further* masks belong to no question.
    """

    questions: tuple[Question, ...]
    masks: tuple[tuple[Mask, ...], ...]
    further: tuple[Mask, ...] = ()


def comment_text(lines: Sequence[str]) -> str:
    """Return the text of a comment or docstring, without the signs of its language.

    >>> comment_text(["/**", " * Parse a date.", " */"]).strip()
    'Parse a date.'
    """
    if lines and (quote := _QUOTES.match(lines[0])):
        whole = "\n".join(line.rstrip("\n") for line in lines).strip()
        body = whole[whole.index(quote[1]) + len(quote[1]) :]
        return body.removesuffix(quote[1])
    return "\n".join(_CLOSING.sub("", _MARKERS.sub("", line.rstrip("\n"))) for line in lines)


def plain_text(text: str) -> str:
    """Return *text* on one line, without the markup of Markdown, reStructuredText and Javadoc.

    >>> plain_text("Like :meth:`~flask.Flask.route`, but see `the docs <http://x>`_ for ``GET``.")
    'Like route, but see the docs for GET.'
    """
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return _SPACES.sub(" ", text).strip()


def first_sentences(text: str) -> str:
    r"""Return the first sentence of a description, or two if the first is very short.

    >>> first_sentences("Close it. Frees the socket and all buffers.\n\nLong story.")
    'Close it. Frees the socket and all buffers'
    """
    paragraph: list[str] = []
    for line in text.split("\n"):
        if not line.strip():
            if paragraph:
                break
            continue
        if _END.match(line):
            break
        paragraph.append(line.strip())
    plain = plain_text(" ".join(paragraph))
    ends = [match.end() for match in _SENTENCE.finditer(plain)]
    chosen = plain
    for end in ends[:2]:
        chosen = plain[:end]
        if len(content_words(chosen)) >= _FEW_WORDS:
            break
    return chosen.strip().rstrip(".:;,").strip()


def without_name(text: str, name: str) -> str:
    """Return *text* without the *name* of the definition that it begins with, as in Go.

    >>> without_name("Context is the most important part of gin", "Context")
    'most important part of gin'
    """
    first, _, rest = text.partition(" ")
    if not rest or first.strip("`:()-") != name:
        return text
    return _LEADING_VERB.sub("", _RECEIVER.sub("", rest).lstrip(" -:–—")).strip()


def spoken_name(name: str) -> str:
    """Return the name of a test as words.

    >>> spoken_name("test_redirect_keeps_query_string"), spoken_name("TestRenderJSONArray")
    ('redirect keeps query string', 'render json array')
    """
    words = parts(name)
    while words and words[0] in ("test", "tests", "it", "should", "spec"):
        words = words[1:]
    return " ".join(words)


def normalised(text: str) -> str:
    """Return *text* in lower case without punctuation, to recognise repeated texts."""
    return _CHOPPED.sub(" ", text.lower()).strip()


def check_query(text: str, *, least: int = LEAST_WORDS) -> str:
    """Return the rule that drops *text* as a query, "" for none.

    >>> check_query("Return it"), check_query("Parse the date of a cookie")
    ('too-short', '')
    """
    if not text or _NOT_A_DESCRIPTION.search(text):
        return "no-description"
    if len(content_words(text)) < least:
        return "too-short"
    if text.count(" ") >= LONGEST_QUERY:
        return "too-long"
    spoken = " ".join(token for token in text.split() if not is_identifier(token))
    if len(content_words(spoken)) < min(2, least):
        return "identifiers"
    return ""
