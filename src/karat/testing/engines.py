"""The law of engines, as tests that any engine inherits.

    class TestMyEngine(EngineSuite):
        @pytest.fixture
        def engine(self):
            engine = MyEngine()
            yield engine
            engine.close()

The fixture gives an engine that has indexed nothing. One that declares ``thread_safe = True`` is
searched by several threads at once.
"""

# A suite of tests asserts, wherever it is kept.
# ruff: noqa: S101

import threading
from collections.abc import Sequence

import pytest

from karat.corpus import Corpus, from_texts
from karat.engines.base import (
    Engine,
    SupportsBatch,
    SupportsClose,
    SupportsExplain,
    SupportsPhases,
    SupportsSnapshots,
)
from karat.engines.contract import broken_laws
from karat.errors import EngineError, InputError
from karat.model import Hit

__all__ = ["AWKWARD_QUERIES", "DOCUMENTS", "EngineSuite"]

DOCUMENTS = {
    "src/auth.py": "import os\n\n\ndef login(user, password):\n    return check(user, password)\n",
    "src/mail.py": "def send(message):\n    '''Send a message by mail.'''\n    print(message)\n",
    "src/deep/er/cache.py": "class Cache:\n    def get(self, key):\n        return self[key]\n",
    "docs/guide.md": "# Guide\n\nHow to login: give your user name and password.\n",
    "docs/größe.md": "# Größe\n\nDie Größe einer Datei; 日本語 ドキュメント.\n",
    "docs/with blank.md": "# Blank\n\nA name with a blank; the word zebra is only here.\n",
    "empty.txt": "",
    "no_end.txt": "the last line has no end: giraffe",
}

# What a shell, a regular expression, a template, JSON, a URL or an option parser may trip over.
AWKWARD_QUERIES = [
    "login; touch pwned",
    "$(touch pwned) `touch pwned`",
    "-rf",
    "--help",
    "--",
    "-e",
    "login | cat && echo 'x' \"y\"",
    "{query} {root} {k} {env:HOME} {{query}} {",
    "login\npassword\r\n\tuser",
    "login\0password",
    "100% [a-z]+( \\ ^$ .* ?",
    '{"query": "x"}',
    "a&b=c#d?e/../f",
    "Größe 日本語 🔍 e\u0301",
    "\ud800 login",
    "login " * 500,
    "?",
]


class EngineSuite:
    """What holds for every engine; a subclass provides the fixture ``engine``."""

    @pytest.fixture
    def corpus(self) -> Corpus:
        """Return the corpus to search; eight small files, one of them empty."""
        return from_texts(DOCUMENTS, name="suite")

    @staticmethod
    def search(engine: Engine, corpus: Corpus, query: str, k: int) -> Sequence[Hit]:
        """Return the hits of *engine*, held to the law."""
        hits = engine.search(query, k)
        assert broken_laws(hits, corpus, k) == []
        assert all(isinstance(hit, Hit) for hit in hits)
        return hits

    def test_has_a_name(self, engine: Engine) -> None:
        """The name labels a run."""
        assert isinstance(engine, Engine)
        assert engine.name
        assert isinstance(engine.name, str)

    def test_search_before_index(self, engine: Engine) -> None:
        """There is nothing to search."""
        with pytest.raises(EngineError, match="before index"):
            engine.search("login", 3)

    def test_finds_what_is_there(self, engine: Engine, corpus: Corpus) -> None:
        """A word that stands in one file leads to that file."""
        engine.index(corpus)
        assert self.search(engine, corpus, "zebra", 3)[0].path == "docs/with blank.md"
        assert self.search(engine, corpus, "giraffe", 3)[0].path == "no_end.txt"
        found = {hit.path for hit in self.search(engine, corpus, "login password", 5)}
        assert {"src/auth.py", "docs/guide.md"} <= found

    def test_at_most_k(self, engine: Engine, corpus: Corpus) -> None:
        """For any k, one beyond the corpus included; a shorter list begins the longer one."""
        engine.index(corpus)
        longest = self.search(engine, corpus, "login password message", 10_000)
        assert longest
        for k in (1, 2, 3):
            assert len(self.search(engine, corpus, "login password message", k)) <= k

    def test_k_from_1(self, engine: Engine, corpus: Corpus) -> None:
        """Asking for nothing is a mistake."""
        engine.index(corpus)
        for k in (0, -1):
            with pytest.raises(InputError, match="whole number from 1"):
                engine.search("login", k)

    def test_same_query_same_hits(self, engine: Engine, corpus: Corpus) -> None:
        """Again, after another query, and after indexing again."""
        engine.index(corpus)
        first = list(self.search(engine, corpus, "login password", 5))
        assert list(engine.search("login password", 5)) == first
        engine.search("message", 5)
        assert list(engine.search("login password", 5)) == first
        engine.index(corpus)
        assert list(engine.search("login password", 5)) == first

    def test_empty_query(self, engine: Engine, corpus: Corpus) -> None:
        """No words, no hits, no error."""
        engine.index(corpus)
        for query in ("", " ", "\t\n", "\u00a0\u3000"):
            assert list(engine.search(query, 5)) == [], query

    def test_empty_corpus(self, engine: Engine) -> None:
        """No documents, no hits, no error."""
        engine.index(from_texts({}))
        assert list(engine.search("login", 5)) == []

    def test_index_replaces(self, engine: Engine, corpus: Corpus) -> None:
        """What was indexed before is gone."""
        engine.index(corpus)
        other = from_texts({"zoo.txt": "zebra crossing\n"}, name="other")
        engine.index(other)
        assert [hit.path for hit in self.search(engine, other, "zebra", 5)] == ["zoo.txt"]
        assert not self.search(engine, other, "password", 5)

    def test_any_script(self, engine: Engine, corpus: Corpus) -> None:
        """Words and paths beyond ASCII."""
        engine.index(corpus)
        assert self.search(engine, corpus, "Größe", 3)[0].path == "docs/größe.md"

    def test_a_query_is_only_text(self, engine: Engine, corpus: Corpus) -> None:
        """Whatever it looks like, it is searched for and not acted on."""
        engine.index(corpus)
        for query in AWKWARD_QUERIES:
            self.search(engine, corpus, query, 5)
            assert self.search(engine, corpus, "zebra", 1), query

    def test_threads(self, engine: Engine, corpus: Corpus) -> None:
        """An engine that says so answers several threads as it answers one."""
        if not getattr(engine, "thread_safe", False):
            pytest.skip("the engine does not declare thread_safe")
        engine.index(corpus)
        queries = ["login password", "zebra", "message mail", "Größe"]
        expected = [list(engine.search(query, 5)) for query in queries]
        found: list[list[Hit]] = [[] for _ in queries * 2]

        def ask(place: int) -> None:
            found[place] = list(engine.search(queries[place % len(queries)], 5))

        threads = [threading.Thread(target=ask, args=(place,)) for place in range(len(found))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert found == expected * 2

    def test_close_twice(self, engine: Engine, corpus: Corpus) -> None:
        """Closing is final for what was indexed, harmless when repeated, and no end of use."""
        if not isinstance(engine, SupportsClose):
            pytest.skip("the engine has nothing to close")
        engine.close()
        engine.index(corpus)
        assert engine.search("zebra", 1)
        engine.close()
        engine.close()
        with pytest.raises(EngineError, match="before index"):
            engine.search("zebra", 1)
        engine.index(corpus)
        assert engine.search("zebra", 1)

    def test_batch(self, engine: Engine, corpus: Corpus) -> None:
        """Many at once are as one by one."""
        if not isinstance(engine, SupportsBatch):
            pytest.skip("the engine has no search_many")
        engine.index(corpus)
        queries = ["login password", "", "zebra"]
        single = [list(engine.search(query, 3)) for query in queries]
        assert [list(hits) for hits in engine.search_many(queries, 3)] == single

    def test_snapshots(self, engine: Engine, corpus: Corpus) -> None:
        """Showing a snapshot is as good as indexing it, there and back."""
        if not isinstance(engine, SupportsSnapshots):
            pytest.skip("the engine has no show")
        later = from_texts({**DOCUMENTS, "src/auth.py": "def zebra(): ...\n"}, name="suite")
        queries = ["login password", "zebra"]
        expected = []
        for snapshot in (corpus, later):
            engine.index(snapshot)
            expected.append([list(engine.search(query, 5)) for query in queries])
        for place, snapshot in ((0, corpus), (1, later), (0, corpus)):
            engine.show(snapshot)
            assert [list(engine.search(query, 5)) for query in queries] == expected[place]

    def test_explained(self, engine: Engine, corpus: Corpus) -> None:
        """The explained hits are the hits."""
        if not isinstance(engine, SupportsExplain):
            pytest.skip("the engine has no explain")
        engine.index(corpus)
        explained = engine.explain("login password", 3)
        assert [entry.hit for entry in explained] == list(engine.search("login password", 3))
        assert all(entry.stages for entry in explained)

    def test_phases(self, engine: Engine, corpus: Corpus) -> None:
        """Phases are whole nanoseconds."""
        if not isinstance(engine, SupportsPhases):
            pytest.skip("the engine measures no phases")
        engine.index(corpus)
        engine.search("login", 3)
        phases = engine.phases_ns()
        assert phases
        assert all(type(spent) is int and spent >= 0 for spent in phases.values())
