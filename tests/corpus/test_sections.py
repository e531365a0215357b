"""Sections of Markdown, reStructuredText and plain text."""

import pytest

from karat.corpus import create_chunker
from karat.corpus.chunkers.base import Piece, lines_of
from karat.corpus.chunkers.sections import headings


def cut(text: str, language: str = "markdown", *, size: int = 2000, merge: int = 0) -> list[Piece]:
    return list(create_chunker("markdown", size=size, merge=merge).split(text, language).pieces)


def outline(text: str, language: str = "markdown") -> list[tuple[int, int, str]]:
    return [
        (heading.row, heading.level, heading.title)
        for heading in headings(lines_of(text), language)
    ]


MARKDOWN = """\
---
title: x
---
Before.

# Guide #

Intro.

```sh
# no heading
```

Install
-------
Run `make`.

### [Deep](x.md) `code`
End.

* * *
# Other
"""


def test_headings_of_markdown() -> None:
    assert outline(MARKDOWN) == [
        (5, 1, "Guide"),
        (13, 2, "Install"),
        (17, 3, "Deep code"),
        (21, 1, "Other"),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "#no space",
        "    # code",
        "a\n\n---\n",
        "- item\n---\n",
        "| a |\n---\n",
        "```\n# x\n",
        "~~~\n# x",
    ],
)
def test_what_is_no_heading(text: str) -> None:
    assert outline(text) == []


PLAIN = """\
Guide
=====

Intro that
is no heading.

==============================================================================
1. Setting options                                      *set-option* *E764*

Text below.

GLOBAL DEFAULTS                         *defaults*

3.2 Reading files                       *read-files*

Save it ~
More.
Lower case line

--------------------
"""


def test_headings_of_plain_text() -> None:
    assert outline(PLAIN, "text") == [
        (0, 1, "Guide"),
        (6, 10, "1. Setting options"),
        (11, 19, "GLOBAL DEFAULTS"),
        (13, 12, "3.2 Reading files"),
        (15, 20, "Save it"),
    ]


def test_underlined_titles_stand_below_rules_that_came_first() -> None:
    rule = "=" * 40
    text = f"{rule}\nPlugins\n\nAdding one\t*plugin-add*\n{'-' * 30}\ntext\n\n{rule}\nOptions\n"
    assert outline(text, "text") == [(0, 10, "Plugins"), (3, 15, "Adding one"), (7, 10, "Options")]


@pytest.mark.parametrize(
    "text",
    [
        "a\nNOT AFTER A BLANK",
        "1. an item\n2. another",
        "2.5 GB\nof it",
        "====\nshort rule",
        "OK",
        "CTRL-N\t\tfind the next one",
        "char\t\taction\n--------------------------\n<BS>\t\tdelete",
    ],
)
def test_what_is_no_heading_of_plain_text(text: str) -> None:
    assert outline(text, "text") == []


def test_headings_of_asciidoc() -> None:
    text = "= Manual\n\n----\n== no heading\n----\n\n== Use\n=== Options\n"
    assert outline(text, "asciidoc") == [(0, 1, "Manual"), (6, 2, "Use"), (7, 3, "Options")]


def test_the_path_of_headings_is_the_scope() -> None:
    pieces = cut(MARKDOWN)
    assert [(piece.scope, piece.symbols) for piece in pieces] == [
        ((), ()),
        ((), ("Guide",)),
        (("Guide",), ("Install",)),
        (("Guide", "Install"), ("Deep code",)),
        ((), ("Other",)),
    ]
    assert {piece.kind for piece in pieces} == {"prose"}


RST = """\
=====
Title
=====

Text.

Part
----

A table:

====  ====
a     b
====  ====

Sub
~~~

Other
-----
too short
---
"""


def test_headings_of_restructured_text() -> None:
    assert outline(RST, "rst") == [
        (0, 1, "Title"),
        (6, 2, "Part"),
        (15, 3, "Sub"),
        (18, 2, "Other"),
    ]


def test_short_sections_are_merged() -> None:
    text = "# A\nx\n# B\ny\n# C\n" + "long line\n" * 10 + "# D\nz\n"
    pieces = cut(text, size=300, merge=50)
    assert [piece.symbols for piece in pieces] == [("A", "B", "C", "D")]
    pieces = cut(text, size=109, merge=50)
    assert [piece.symbols for piece in pieces] == [("A", "B"), ("C",), ("D",)]


def test_a_long_section_is_cut_between_paragraphs() -> None:
    paragraph = "word " * 10 + "\n\n"
    pieces = cut("# A\n\n" + paragraph * 6, size=130)
    assert [(p.start_line, p.end_line) for p in pieces] == [(1, 5), (7, 9), (11, 13)]
    assert [(p.scope, p.symbols) for p in pieces] == [((), ("A",)), (("A",), ()), (("A",), ())]


def test_a_long_paragraph_is_cut_between_lines() -> None:
    pieces = cut("# A\n" + "a line\n" * 30, size=50)
    assert all(len(piece.text) <= 50 for piece in pieces)
    assert pieces[1].scope == ("A",)


def test_a_code_block_is_one_paragraph() -> None:
    text = "# A\n\n" + "x" * 40 + "\n\n```\na\n\nb\n\nc\n```\n"
    assert cut(text, size=60)[1].text == "```\na\n\nb\n\nc\n```\n"


def test_a_plain_text_is_cut_between_paragraphs() -> None:
    pieces = cut("# no heading\nfirst\n\nsecond\n\nthird\n", "text", size=30)
    assert [piece.text for piece in pieces] == ["# no heading\nfirst\n\nsecond\n", "third\n"]
    assert pieces[0].symbols == ()
