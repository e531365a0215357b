"""Suites: those that come with Karat, those of a user, and what is refused."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.engines.spec import build
from karat.errors import InputError, UnknownName
from karat.experiments.suites import SuiteConfig, suite, suite_configuration, suites
from karat.model.spec import Spec


def test_the_bundled_suites() -> None:
    counts = {name: len(suite(name)) for name in suites()}
    assert counts == {
        "quick_test": 2,
        "chunk_comparison": 4,
        "embedding_comparison": 3,
        "reranker_study": 4,
        "comprehensive": 12,
    }


def test_comprehensive_is_every_combination() -> None:
    names = {
        (
            configuration.options["chunk_size"],
            configuration.options["embedding_model"],
            configuration.options["use_reranker"],
        )
        for configuration in suite("comprehensive")
    }
    assert len(names) == 12


def test_every_engine_of_the_bundled_suites_can_be_built() -> None:
    pytest.importorskip("onnxruntime")
    for spec in {configuration.spec for name in suites() for configuration in suite(name)}:
        build(spec)


def test_all_parameters_are_applied() -> None:
    config = SuiteConfig("a", 128, "sentence-transformers/all-MiniLM-L6-v2", True, "maxsim:minilm")
    configuration = suite_configuration(config, k=7)
    over = {"engine": "dense", "model": "minilm", "windows": "all", "chunker": "window:128"}
    assert configuration.spec == Spec("engine", "rerank", {"over": over, "model": "maxsim:minilm"})
    assert configuration.k == 7
    assert configuration.options == {
        "chunk_size": 128,
        "embedding_model": "sentence-transformers/all-MiniLM-L6-v2",
        "use_reranker": True,
        "reranker_model": "maxsim:minilm",
    }
    hub = suite_configuration(
        config._replace(reranker_model="cross-encoder/ms-marco-MiniLM-L-6-v2")
    )
    assert hub.spec.params["model"] == "cross:cross-encoder/ms-marco-MiniLM-L-6-v2"


@pytest.mark.parametrize(
    ("config", "message"),
    [
        (SuiteConfig("a", 256, "granit", False), "a: no embedder named 'granit'; did you mean"),
        (SuiteConfig("a", 0, "granite", False), "a: chunker 'window': size is 0"),
        (SuiteConfig("a", 256, "granite", True, "maxsin"), "a: no reranker named 'maxsin'"),
        (
            SuiteConfig("a", 256, "granite", True, "maxsim:static"),
            "a: maxsim:static: this embedder",
        ),
        (SuiteConfig("a", 256, "granite", False, "maxsim"), "'maxsim' needs use_reranker: true"),
    ],
)
def test_what_cannot_be_applied_is_refused(config: SuiteConfig, message: str) -> None:
    with pytest.raises(InputError, match=message):
        suite_configuration(config)


def test_a_file_of_the_user(tmp_path: Path) -> None:
    path = tmp_path / "suites.yaml"
    path.write_text(
        "mine:\n- {name: one, chunk_size: 200, embedding_model: static, use_reranker: false}\n"
    )
    [configuration] = suite("mine", path)
    assert configuration.spec.params["chunker"] == "window:200"
    with pytest.raises(UnknownName, match="no suite named 'quick_test'; known: mine"):
        suite("quick_test", path)
    with pytest.raises(UnknownName, match="did you mean 'quick_test'"):
        suite("quick_tests")


def test_all_faults_of_a_suite_are_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "suites.yaml"
    path.write_text(
        "mine:\n"
        "- {name: one, chunk_size: 90, embedding_model: granit, use_reranker: true, "
        "reranker_model: maxsin}\n"
        "- {name: two, chunk_size: 90, embedding_model: static, use_reranker: false}\n"
        "- {name: three, chunk_size: 90, embedding_model: statik, use_reranker: false}\n"
    )
    with pytest.raises(InputError) as refused:
        suite("mine", path)
    assert str(refused.value).splitlines() == [
        "one: no embedder named 'granit'; did you mean 'granite'?",
        "one: no reranker named 'maxsin'; did you mean 'maxsim'?",
        "three: no embedder named 'statik'; did you mean 'static'?",
    ]


def test_a_suite_is_swept(karat: Callable[..., CompletedProcess[str]], folder: Path) -> None:
    pytest.importorskip("wordllama")
    (folder / "project").mkdir()
    for name in ("login", "logout", "reset", "send"):
        (folder / "project" / f"{name}.py").write_text(f"def {name}(): ...\n")
    (folder / "names.csv").write_text(
        "query,document\n"
        "where is login,login.py\nwhere is logout,logout.py\n"
        "where is reset,reset.py\nwhere is send,send.py\n"
    )
    sweep = ("sweep", "names.csv", "--corpus", "project", "--draws", "99", "--timed", "none")
    done = karat(*sweep, "--suite", "quick_test", "-m", "mrr")
    assert done.returncode == 0, done.stderr
    assert "4 queries; change and p: against small chunks" in done.stdout
    (folder / "own.yaml").write_text(
        "mine: [{name: one, chunk_size: 64, embedding_model: static, use_reranker: false}]\n"
    )
    own = karat(*sweep, "--suites", "own.yaml", "--single", "-m", "mrr")
    assert own.returncode == 0, own.stderr
    assert "one has mrr 1.000 [0.398, 1.000] over 4 queries." in own.stdout
