"""The tokens of hits: those of the lines that a reader of the corpus sees."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import from_texts
from karat.engines import hit_tokens
from karat.engines.hit_tokens import HitTokens, tokens
from karat.model import Hit

TEXT = "import os\n\ndef login(user):\n    return check(user)\n"


@given(st.text(alphabet="ab\n\x0cü", max_size=60), st.data())
def test_any_lines_have_the_tokens_of_their_text(text: str, data: st.DataObject) -> None:
    lines = text.split("\n")
    count = len(lines) - (not lines[-1])
    if not count:
        return
    first = data.draw(st.integers(1, count))
    last = data.draw(st.integers(first, count))
    own = "\n".join(lines[first - 1 : last]) + ("\n" if last < len(lines) else "")
    hit = Hit("a", 1.0, first, last)
    assert HitTokens(from_texts({"a": text})).added([hit]) == (hit._replace(tokens=tokens(own)),)


def test_a_whole_file_and_the_number_of_an_engine() -> None:
    count = HitTokens(from_texts({"a.py": TEXT, "empty": ""}))
    hits = [Hit("a.py"), Hit("a.py", tokens=7), Hit("empty")]
    assert [hit.tokens for hit in count.added(hits)] == [len(TEXT) // 4, 7, 1]


class Words:
    digest = "words"

    def spans(self, text: str) -> list[tuple[int, int]]:
        return [(0, 1) for _ in text.split()]


def test_a_tokenizer_counts_lines_and_scales_what_an_engine_reports(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(hit_tokens, "create_tokenizer", {"words": Words()}.get)
    count = HitTokens(from_texts({"a.py": TEXT}), "words")
    by_characters = len("def login(user):\n") // 4
    hits = [
        Hit("a.py"),
        Hit("a.py", 1.0, 3, 3),
        Hit("a.py", 1.0, 3, 3, tokens=by_characters),
        Hit("a.py", 1.0, 3, 3, tokens=5 * by_characters),
    ]
    assert [hit.tokens for hit in count.added(hits)] == [6, 2, 2, 10]
