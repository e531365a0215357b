"""The baseline for search by agents: what grep and a file viewer find, and all that they print."""

import re
from collections.abc import Iterator

import pytest

from karat.corpus import Corpus, from_texts
from karat.engines import keyword
from karat.engines.spec import build
from karat.errors import InputError
from karat.extensions.grep_and_read.engine import GrepAndRead
from karat.model import Hit
from karat.testing import EngineSuite


@pytest.fixture
def in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyword, "ripgrep", lambda: None)


class TestInPython(EngineSuite):
    @pytest.fixture
    def engine(self, in_python: None) -> GrepAndRead:
        return GrepAndRead(context=1)


class TestByRipgrep(EngineSuite):
    @pytest.fixture
    def engine(self, ripgrep: str) -> Iterator[GrepAndRead]:
        engine = GrepAndRead(context=1)
        assert engine.program == ripgrep
        yield engine
        engine.close()


def checked_hits(engine: GrepAndRead, corpus: Corpus, query: str, k: int = 10) -> list[Hit]:
    engine.index(corpus)
    return list(engine.search(query, k))


AUTH = "import os\n\ndef login(user):\n    pass\n\n\n\nlogin\n"
FILES = {"auth.py": AUTH, "mail.py": "def send(user):\n    pass\n", "none.py": "pass\n"}


@pytest.mark.usefixtures("in_python")
def test_worked_by_hand() -> None:
    engine = GrepAndRead(context=1)
    hits = checked_hits(engine, from_texts(FILES), "How does the user login?")
    assert [(hit.path, hit.start_line, hit.end_line) for hit in hits] == [
        ("auth.py", 2, 4),
        ("mail.py", 1, 2),
        ("auth.py", 7, 8),
    ]
    listed = "auth.py:1\nmail.py:1\n" + "auth.py:2\n"
    opened = "3:def login(user):\n8:login\n"
    first = "\ndef login(user):\n    pass\n"
    assert [hit.tokens for hit in hits] == [
        len(listed + opened + first) // 4,
        len("1:def send(user):\n" + FILES["mail.py"]) // 4,
        len("\nlogin\n") // 4,
    ]
    assert engine.metadata() == {"tokens": sum(hit.tokens for hit in hits)}


@pytest.mark.usefixtures("in_python")
def test_a_rare_word_counts_more_than_a_common_one() -> None:
    texts = {f"{n}.py": "user\n" * (9 - n) for n in range(9)} | {"z.py": "zebra\n"}
    assert checked_hits(GrepAndRead(), from_texts(texts), "user zebra")[0].path == "z.py"


@pytest.mark.usefixtures("in_python")
def test_the_agent_knows_only_what_it_has_read() -> None:
    texts = {"a.py": "user\n" * 3, "b.py": "user\n" * 2, "c.py": "user\n"}
    hits = checked_hits(GrepAndRead(listed=2, matches=2, context=0), from_texts(texts), "user")
    assert [(hit.path, hit.start_line) for hit in hits] == [
        ("a.py", 1),
        ("b.py", 1),
        ("a.py", 2),
        ("b.py", 2),
    ]


@pytest.mark.usefixtures("in_python")
def test_several_windows_at_one_visit() -> None:
    texts = {"a.py": "user\n" * 2, "b.py": "user\n"}
    hits = checked_hits(GrepAndRead(context=0, windows=2), from_texts(texts), "user")
    assert [(hit.path, hit.start_line) for hit in hits] == [("a.py", 1), ("a.py", 2), ("b.py", 1)]


@pytest.mark.usefixtures("in_python")
@pytest.mark.parametrize("context", [0, 1, 3, 50])
def test_no_line_is_read_twice_and_every_match_once(context: int) -> None:
    text = "".join("user mail\n" if n % 7 in (0, 1, 5) else f"line {n}\n" for n in range(100))
    engine = GrepAndRead(context=context, matches=1000)
    hits = checked_hits(engine, from_texts({"a.py": text}), "user mail", 1000)
    lines = [n for hit in hits for n in range(hit.start_line, hit.end_line + 1)]
    matches = {n for n, line in enumerate(text.split("\n"), 1) if "user" in line}
    assert len(lines) == len(set(lines))
    assert matches <= set(lines)


@pytest.mark.usefixtures("in_python")
def test_fewer_hits_are_the_first_of_more() -> None:
    engine = GrepAndRead(context=1)
    many = checked_hits(engine, from_texts(FILES), "user login", 10)
    assert [hit._replace(score=0) for hit in engine.search("user login", 2)] == [
        hit._replace(score=0) for hit in many[:2]
    ]


@pytest.mark.parametrize("option", ["context=-1", "listed=0", "matches=0", "windows=0"])
def test_a_number_that_reads_nothing_is_an_error(option: str) -> None:
    name = re.escape(option.partition("=")[0])
    with pytest.raises(InputError, match=f"grep-and-read: {name} is .* expected a number from"):
        build(f"grep-and-read({option})")
