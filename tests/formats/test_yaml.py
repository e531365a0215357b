"""The strict reader of YAML, and the suites that it reads."""

from pathlib import Path

import pytest

from karat.errors import FormatError, InputError
from karat.experiments.suites import SuiteConfig, read_suites
from karat.formats.jsontext import load_yaml


def load(path: Path, text: str) -> object:
    path.write_text(text, encoding="utf-8")
    return load_yaml(path, limit=1 << 20)[0]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("a: &x 1\nb: *x\n", 1, "anchors and aliases are not allowed"),
        ("a: 1\nb: 2\na: 3\n", 3, "key 'a' appears twice"),
        ("a: !!python/object:os.system x\n", 1, "tags are not allowed"),
        ("a: 1\n--- \nb: 2\n", 2, "a second document begins"),
        ("a: [1\n", 2, "not YAML"),
        ("? [a]\n: b\n", 1, "expected text as a key"),
        ("a: " + "[" * 200 + "]" * 200, 1, "nested deeper than 100"),
        ("[" * 5000, 1, "nested deeper than 100"),
        ("a: \x01", 0, "not YAML"),
    ],
)
def test_what_is_refused(tmp_path: Path, text: str, line: int, message: str) -> None:
    with pytest.raises(FormatError) as caught:
        load(tmp_path / "x.yaml", text)
    problem = caught.value.problems[0]
    assert problem.message.startswith(message)
    assert problem.line == line


def test_scalars_stay_as_written(tmp_path: Path) -> None:
    value = load(tmp_path / "x.yaml", "a: 012\nb: no\nc: ~\nd: '~'\ne: 1:30\nf: >\n  x\n  y\n")
    assert value == {"a": "012", "b": "no", "c": None, "d": "~", "e": "1:30", "f": "x y\n"}


def test_suites(tmp_path: Path) -> None:
    path = tmp_path / "suites.yaml"
    path.write_text(
        "quick:\n- {name: a, chunk_size: 512, embedding_model: bge, use_reranker: true}\n"
        "- {name: b, chunk_size: 256, embedding_model: bge, use_reranker: no,"
        " reranker_model: ce}\n"
    )
    assert read_suites(path) == {
        "quick": (
            SuiteConfig("a", 512, "bge", use_reranker=True),
            SuiteConfig("b", 256, "bge", use_reranker=False, reranker_model="ce"),
        )
    }


def test_bad_suites(tmp_path: Path) -> None:
    path = tmp_path / "suites.yaml"
    path.write_text(
        "quick:\n- {name: a, chunk_size: -5, embedding_model: bge, use_reranker: maybe}\n"
        "- {name: a, chunksize: 5, embedding_model: bge, use_reranker: true}\n"
    )
    with pytest.raises(FormatError) as caught:
        read_suites(path)
    assert [str(problem).split("suites.yaml:")[1] for problem in caught.value.problems] == [
        "2: quick[0].chunk_size: '-5' is not a whole number above 0",
        "2: quick[0].use_reranker: 'maybe' is neither true nor false",
        "3: quick[1].chunksize: unknown key; did you mean 'chunk_size'? valid keys: name, "
        "chunk_size, embedding_model, use_reranker, reranker_model",
        "3: quick[1]: 'chunk_size' is missing",
        "3: quick[1]: name 'a' appears more than once",
    ]
    path.write_text("{}")
    with pytest.raises(InputError, match="no suite"):
        read_suites(path)
