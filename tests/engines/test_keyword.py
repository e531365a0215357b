"""The baseline that every search has to beat: grep, with windows in the order of their words."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.corpus import Corpus, from_folder, from_texts
from karat.engines import keyword
from karat.engines.keyword import KeywordEngine, keywords
from karat.engines.spec import build
from karat.errors import InputError
from karat.model import Hit
from karat.testing import EngineSuite
from karat.testing.engines import AWKWARD_QUERIES, DOCUMENTS


def in_python() -> KeywordEngine:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(keyword, "ripgrep", lambda: None)
        return KeywordEngine(window=2)


@pytest.fixture
def by_ripgrep(ripgrep: str) -> Iterator[KeywordEngine]:
    engine = KeywordEngine(window=2)
    assert engine.program == ripgrep
    yield engine
    engine.close()


class TestByRipgrep(EngineSuite):
    @pytest.fixture
    def engine(self, by_ripgrep: KeywordEngine) -> KeywordEngine:
        return by_ripgrep


class TestInPython(EngineSuite):
    @pytest.fixture
    def engine(self) -> KeywordEngine:
        return in_python()


def checked_hits(engine: KeywordEngine, corpus: Corpus, query: str, k: int = 10) -> list[Hit]:
    engine.index(corpus)
    return list(engine.search(query, k))


def test_worked_by_hand() -> None:
    texts = {"a.py": "login\nuser user\nLogin(user)", "b.py": "the_user", "c.py": "none"}
    hits = checked_hits(in_python(), from_texts(texts), "How does the user login?")
    assert [(hit.path, hit.start_line, hit.end_line) for hit in hits] == [
        ("a.py", 1, 2),
        ("a.py", 3, 3),
        ("b.py", 1, 1),
    ]
    assert [hit.score for hit in hits] == pytest.approx([2 + 3 / 4, 2 + 2 / 3, 1 + 1 / 2])
    assert hits[0].tokens == len("login\nuser user\n") // 4


def test_no_number_of_occurrences_is_worth_a_word() -> None:
    texts = {"a": "url " * 100_000, "b": "url user"}
    assert [hit.path for hit in checked_hits(in_python(), from_texts(texts), "url user")] == [
        "b",
        "a",
    ]


lines = st.lists(st.sampled_from(["User", "userName", "url", "x", "the", "+"]), max_size=4)
texts = st.lists(lines.map(" ".join), max_size=7).map("\n".join)


@given(st.dictionaries(st.sampled_from("abc"), texts), texts)
def test_counts_as_a_loop_would(documents: dict[str, str], query: str) -> None:
    words = keywords(query)
    expected = []
    for path, text in sorted(documents.items()):
        rows = text.lower().split("\n")
        for start in range(0, len(rows), 2):
            window = "\n".join(rows[start : start + 2])
            counts = [window.count(word) for word in words]
            if any(counts):
                score = sum(map(bool, counts)) + sum(counts) / (sum(counts) + 1)
                expected.append((-score, path, start + 1))
    hits = checked_hits(in_python(), from_texts(documents), query, k=100)
    assert [(-hit.score, hit.path, hit.start_line) for hit in hits] == sorted(expected)


def test_ripgrep_gives_the_same_hits(by_ripgrep: KeywordEngine, tmp_path: Path) -> None:
    # The last needs a made-up name on disk; the sigmas are one letter to ripgrep alone.
    odd = {"a": "user_name username", "b": "δς\nδσ", "win.txt": "url\r\nuser\r\n", "a/b": "url"}
    for path, text in {"x.py": "url\nx\nuser url", "y/z.py": "user\r\nx\r\nurl\r\n"}.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text, newline="")
    plain = in_python()
    for corpus in (from_texts({**DOCUMENTS, **odd}), from_folder(tmp_path)):
        plain.index(corpus)
        by_ripgrep.index(corpus)
        for query in [*AWKWARD_QUERIES, "user name user_name", "ΔΣ", "url user", "a"]:
            assert plain.search(query, 20) == by_ripgrep.search(query, 20), query
    assert not by_ripgrep.mended
    assert not by_ripgrep.invalid


def test_options() -> None:
    engine = build("keyword(window=7)")
    assert isinstance(engine, KeywordEngine)
    assert engine.window == 7
    with pytest.raises(InputError, match="window is 0; expected a number of lines from 1 up"):
        build("keyword(window=0)")


@pytest.mark.parametrize("rg", [True, False])
def test_case_counts_where_it_is_asked_for(rg: bool, request: pytest.FixtureRequest) -> None:
    if rg:
        request.getfixturevalue("ripgrep")
    engine = KeywordEngine(case_sensitive=True)
    if not rg:
        engine.program, engine.needs_directory = None, False
    corpus = from_texts({"a.py": "class Login: ...", "b.py": "def login(): ..."})
    assert [hit.path for hit in checked_hits(engine, corpus, "The Login")] == ["a.py"]
    assert [hit.path for hit in checked_hits(engine, corpus, "login")] == ["b.py"]
    engine.close()
