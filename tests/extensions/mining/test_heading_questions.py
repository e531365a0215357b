"""Headings as queries for their sections."""

import pytest

from karat.corpus.chunkers.base import lines_of
from karat.corpus.chunkers.sections import headings
from karat.corpus.snapshot import mask_text
from karat.extensions.mining.questions.headings import heading_questions, repeated_titles
from karat.extensions.mining.questions.wording import Question

BODY = "A browser sends the session cookie back with every further request to this server.\n"
MARKDOWN = f"""\
---
title: Rotate secret keys
---
# Rotate secret keys

- [Rotate secret keys](#rotate)
- [Old signatures](#old)

{BODY}
## Old signatures

{BODY}
## Introduction

{BODY}
## Empty keys here

Too short.
"""
RST = f"""\
Rotate secret keys
==================

{BODY}
Old signatures
--------------

{BODY}"""
ASCIIDOC = f"= Rotate secret keys\n\n{BODY}\n== Old signatures\n\n{BODY}"


def asked(text: str, language: str) -> list[Question]:
    return [q for q in heading_questions("f", text, language, ()).questions if not q.reason]


@pytest.mark.parametrize(
    ("text", "language"), [(MARKDOWN, "markdown"), (RST, "rst"), (ASCIIDOC, "asciidoc")]
)
def test_sections_of(text: str, language: str) -> None:
    first, second = asked(text, language)
    assert first.text == "Rotate secret keys"
    assert second.text == "Rotate secret keys: Old signatures", "a short title needs the one above"
    lines = text.split("\n")
    (target,) = second.targets
    assert "Old signatures" in lines[target.start_line - 1]
    assert lines[target.end_line - 1] + "\n" == BODY
    assert first.targets[0].end_line < target.start_line


@pytest.mark.parametrize(
    ("text", "language"), [(MARKDOWN, "markdown"), (RST, "rst"), (ASCIIDOC, "asciidoc")]
)
def test_masked_sections_stay_sections_without_their_titles(text: str, language: str) -> None:
    finding = heading_questions("f", text, language, ())
    masked = mask_text(text, sorted({mask for own in finding.masks for mask in own}))
    assert "Rotate" not in masked
    assert "Old signatures" not in masked, "nor in the table of contents"
    assert masked.count(BODY) == text.count(BODY)
    before, after = (headings(lines_of(one), language) for one in (text, masked))
    assert [(h.row, h.level) for h in before] == [(h.row, h.level) for h in after]


def test_the_masks_of_a_query_hide_all_its_titles() -> None:
    finding = heading_questions("f", RST, "rst", ())
    masked = mask_text(RST, sorted(finding.masks[1]))
    assert "Rotate" not in masked
    assert "Old" not in masked


def test_dropped_headings() -> None:
    questions = heading_questions("f", MARKDOWN, "markdown", {"old signatures"}).questions
    assert {q.text: q.reason for q in questions} == {
        "Rotate secret keys": "",
        "Rotate secret keys: Old signatures": "repeated",
        "Rotate secret keys: Introduction": "generic",
        "Empty keys here": "nothing-left",
    }


@pytest.mark.parametrize("title", ["Version 2.0.1", "2024-05-01", "See also", "What's New", "..."])
def test_generic_titles(title: str) -> None:
    (question,) = heading_questions("f", f"# {title}\n\n{BODY}", "markdown", ()).questions
    assert question.reason == "generic"


def test_titles_of_several_sections() -> None:
    pages = [("# Sign cookies\n\n# Other\n", "markdown"), ("Sign Cookies!\n=============\n", "rst")]
    assert repeated_titles(pages) == {"sign cookies"}


def test_shouted_and_numbered_titles_of_plain_text() -> None:
    text = (
        f"{'=' * 40}\n2. Folding long lines {{{{{{1\n\n{BODY}\nSWITCHING COMPILERS EARLY\n\n{BODY}"
    )
    texts = [q.text for q in asked(text, "text")]
    assert texts == ["Folding long lines", "Switching compilers early"]
