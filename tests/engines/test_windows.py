"""Long places are embedded in parts, and the nearest part speaks for the whole."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Chunk, Trait, from_texts
from karat.engines.builtin import dense
from karat.engines.chunk_table import ChunkLocation
from karat.engines.stages import CHARACTERS, parts, texts_of
from karat.errors import InputError
from karat.model import Hit
from tests.words import WORDS


@given(st.text(alphabet="ab\n", max_size=400), st.integers(5, 60))
def test_parts_are_the_text_and_of_even_length(text: str, size: int) -> None:
    windowed = parts(text, size)
    assert "".join(windowed) == text
    longest_line = max(map(len, text.splitlines(keepends=True)), default=0)
    assert all(len(part) <= size + longest_line for part in windowed)
    assert all(windowed) or not text


def location(kind: str) -> ChunkLocation:
    return ChunkLocation(
        "a.md", Chunk("", "", 1, 99, "word\n" * CHARACTERS, (), (), kind), Trait.NONE
    )


@pytest.mark.parametrize(
    ("windows", "kind", "several"),
    [
        ("none", "prose", False),
        ("prose", "prose", True),
        ("prose", "code", False),
        ("all", "code", True),
    ],
)
def test_what_is_embedded_in_parts(windows: str, kind: str, several: bool) -> None:
    texts = texts_of(location(kind), windows)
    assert (len(texts) > 1) == several
    assert all(text.startswith("a.md\n") for text in texts)


def test_other_windows_are_refused() -> None:
    with pytest.raises(InputError, match="none, prose, all"):
        dense(model=WORDS, windows="some")


def test_the_nearest_part_is_the_score() -> None:
    filler = "The weather was fine and the road was long and quiet that day.\n" * 12
    text = filler + "Reset the password of a user by mail.\n" + filler
    query = "reset password"

    def first(windows: str) -> Hit:
        engine = dense(model=WORDS, windows=windows, cache=False, code_ranking=False)
        engine.index(from_texts({"a.md": text, "b.md": filler}))
        return engine.search(query, 1)[0]

    assert first("prose").path == first("none").path == "a.md"
    assert first("prose").score > 1.3 * first("none").score
