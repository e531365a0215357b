"""One EngineInfo is enough: the engine is listed, built, grouped, combined and run by its name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from karat.app.engines import list_engines
from karat.cli.options.shared import PROFILES as OFFERED_PROFILES
from karat.engines import registry
from karat.engines.builtin import bm25
from karat.engines.chunked import ChunkEngine
from karat.engines.engine_group import EngineGroup, shareable
from karat.engines.keyword import KeywordEngine
from karat.engines.registry import (
    BUILT_IN,
    ENGINES,
    PROFILE_ALIASES,
    PROFILES,
    EngineInfo,
    has_absolute_scores,
    profile_named,
    register,
)
from karat.engines.spec import build, check_options, parse_spec, takes
from karat.errors import EngineError, InputError
from karat.experiments.matrix import Matrix

MODULE = '''
from karat.engines import EngineInfo
from karat.extension import Extension
from karat.model import Hit

class Fake:
    """Finds the first files by name."""
    name = "fake"
    thread_safe = True
    def __init__(self, reverse: bool = False):
        self.reverse = reverse
    def index(self, corpus):
        self.paths = sorted((each.path for each in corpus.documents), reverse=self.reverse)
    def search(self, query, k):
        return [Hit(path, 1.0 / rank) for rank, path in enumerate(self.paths[:k], 1)] * bool(query)

INFO = EngineInfo(name="fake", factory=Fake, mode="by-name", agent_name="fake_search")
EXTENSION = Extension("fake", "Files by name.", adds={"engine": {"fake": "karat_fake:INFO"}})
'''


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what a test registers."""
    monkeypatch.setattr(ENGINES, "_infos", dict(ENGINES._infos))


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Return a folder with an installed distribution that brings the engine ``fake``."""
    site = tmp_path / "site"
    metadata = site / "karat_fake-1.0.dist-info"
    metadata.mkdir(parents=True)
    (site / "karat_fake.py").write_text(MODULE, encoding="utf-8")
    (metadata / "METADATA").write_text("Name: karat-fake\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text(
        "[karat.extensions]\nfake = karat_fake:EXTENSION\n", encoding="utf-8"
    )
    return site


def karat(site: Path, *arguments: str) -> str:
    paths = (str(site), str(Path(registry.__file__).parents[2]))
    done = subprocess.run(
        [sys.executable, "-m", "karat", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=site.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr + done.stdout
    return done.stdout


def test_a_plug_in_is_listed_searched_swept_and_run_as_an_agent(site: Path) -> None:
    docs = site.parent / "docs"
    docs.mkdir()
    for name in ("login", "mail"):
        (docs / f"{name}.py").write_text(f"def {name}(): ...\n", encoding="utf-8")
    gold = site.parent / "gold.csv"
    gold.write_text("query,result1\nwhere is login,login.py:1-1:1\n", encoding="utf-8")
    matrix = site.parent / "matrix.yaml"
    matrix.write_text("search_modes: [by-name, sparse]\nchunkers: [auto, lines]\n", "utf-8")

    listed = {entry["name"]: entry for entry in json.loads(karat(site, "engines", "--json"))}
    assert listed["fake"]["summary"] == "Finds the first files by name."
    assert (listed["fake"]["built_in"], listed["fake"]["available"]) == (False, True)

    hits = json.loads(karat(site, "search", "x", "docs", "-e", "fake(reverse=true)", "--json"))
    assert [hit["path"] for hit in hits["hits"]] == ["mail.py", "login.py"]

    places = ("--corpus", "docs", "--timed", "none")
    swept = karat(site, "sweep", "gold.csv", "--matrix", "matrix.yaml", *places)
    assert "by-name @10" in swept
    assert "by-name lines" not in swept
    for agent in ("fake", "fake_search"):
        run = karat(site, "compare", "gold.csv", "--agents", agent, "bm25", *places)
        assert agent in run


def test_a_registered_engine_needs_no_other_table() -> None:
    register(EngineInfo(name="plain", factory=KeywordEngine, package="no_such_package"))
    (listed,) = (entry for entry in list_engines() if entry.name == "plain")
    assert (listed.available, listed.missing) == (False, "no_such_package")
    assert listed.install == "pip install no_such_package"
    with pytest.raises(InputError, match="window is 0"):
        build("plain(window=0)")
    assert shareable(parse_spec("plain")) is None
    assert not has_absolute_scores(parse_spec("plain"))


def test_a_registered_engine_over_chunks_shares_them() -> None:
    def mine(*, chunker: str = "auto", cache: bool = True) -> ChunkEngine:
        """Return BM25."""
        return bm25(chunker=chunker, cache=cache)

    register(
        EngineInfo(
            name="mine",
            factory=mine,
            shares="chunks",
            mode="mine",
            axes=frozenset({"chunker"}),
            absolute_scores=True,
        )
    )
    spec = parse_spec("mine(cache=false)")
    assert shareable(spec) == shareable(parse_spec("bm25(cache=false)"))
    assert has_absolute_scores(spec)
    group = EngineGroup()
    first, second = group.add(spec), group.add(parse_spec("bm25(cache=false)"))
    assert isinstance(first, ChunkEngine)
    assert isinstance(second, ChunkEngine)
    assert first.held is second.held
    entries = Matrix(search_modes=("mine",), chunkers=("auto", "lines")).configurations()
    assert [entry.spec.params for entry in entries] == [{}, {"chunker": "lines"}]


def test_an_engine_that_claims_to_share_chunks_must_return_a_chunk_engine() -> None:
    register(EngineInfo(name="liar", factory=KeywordEngine, shares="chunks"))
    with pytest.raises(EngineError, match="liar: its EngineInfo says shares='chunks', but the"):
        EngineGroup().add(parse_spec("liar"))


def test_a_record_may_be_named_where_it_is_defined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "karat_fake_record.py").write_text(MODULE, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert build("karat_fake_record:INFO(reverse=true)").name == "fake"


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"name": "My Engine"}, "expected a lower-case name"),
        (
            {"axes": frozenset({"color"}), "mode": "x"},
            "axes has 'color'; expected some of b, chunker",
        ),
        ({"axes": frozenset({"model"})}, "axes need a mode"),
        ({"components": ("words",)}, "components has 'words'; expected some of dense, lexical"),
        ({"shares": "all"}, "shares is 'all'"),
        ({"name": "bm25"}, "an engine named 'bm25' exists already"),
        ({"mode": "hybrid"}, "mode 'hybrid' belongs to another engine"),
    ],
)
def test_a_wrong_record_is_rejected(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        register(EngineInfo(**{"name": "mine", "factory": KeywordEngine} | wrong))  # type: ignore[arg-type]


# The axes of models that are the option ``model``.
MODEL = {"sparse_model": "model", "late_model": "model"}


@pytest.mark.parametrize("info", BUILT_IN, ids=lambda info: info.name)
def test_a_built_in_record_is_true(info: EngineInfo) -> None:
    factory = ENGINES.get(info.name)
    assert (factory.__doc__ or "").strip()
    assert bool(info.package) == bool(info.extra)
    assert all(takes(factory, MODEL.get(axis, axis)) for axis in info.axes)
    assert info.adapter == hasattr(factory, "Options")
    if info.shares == "chunks":
        model = {"model": "some/model"} if info.axes & {"late_model"} else {}
        given = {"chunker": "lines", **model}
        assert check_options(factory, given, what=info.name) == given


def test_profiles_are_engines_and_never_share_a_name_with_one() -> None:
    assert tuple(PROFILES) == OFFERED_PROFILES
    assert not set(PROFILES) & set(ENGINES)
    for name in PROFILES:
        assert parse_spec(name) == parse_spec(profile_named(name))
    assert {old: profile_named(old) for old in PROFILE_ALIASES} == {"keyword": {"engine": "bm25"}}
    assert parse_spec("keyword").name == "keyword"
    with pytest.raises(InputError, match="no profile named 'best'; known: lexical, fast"):
        profile_named("best")
