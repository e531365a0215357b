"""An engine that is written to a file and read again is the same engine."""

import json
from pathlib import Path
from typing import Any

import pytest

from karat.corpus import Corpus
from karat.engines.engine_file import write_engine
from karat.engines.spec import build, read_specs
from karat.errors import InputError
from karat.model import Hit
from karat.model.spec import Spec


class Loose:
    """Takes its options as they come."""

    def __init__(self, size: Any) -> None:
        self.size = size

    def index(self, corpus: Corpus) -> None:
        pass

    def search(self, query: str, k: int) -> list[Hit]:
        return []


LOOSE = "tests.engines.test_engine_file:Loose"
BODY = {"q": "{query}", "limit": 10, "rerank": True, "size": "{size}"}
ENGINES = [
    Spec("engine", "bm25"),
    Spec("engine", "bm25", {"k1": 1.2}),
    Spec("engine", "rerank", {"over": {"engine": "bm25", "k1": "1.2"}, "depth": 20}),
    Spec("engine", "http", {"url": "http://localhost", "body": BODY, "parameters": {"size": 256}}),
    Spec("engine", "http", {"url": "http://localhost", "body": '{"q": "{query}", "limit": 10}'}),
    Spec("engine", "command", {"command": ["x", "{query}"], "exit_codes": [0, 1], "env": ["A"]}),
    Spec("engine", "python", {"class": LOOSE, "options": {"size": "256"}}),
]


def built(spec: Spec) -> object:
    """Return what an engine is made with, as it is when it is built."""
    if spec.name in ("bm25", "rerank"):
        return json.loads(json.dumps(dict(spec.params)), parse_float=str, parse_int=str)
    engine: Any = build(spec)
    if spec.name == "python":
        return engine.engine.size
    return engine._options.model_dump(exclude={"parameters"})


@pytest.mark.parametrize("name", ["best.yaml", "best.JSON"])
@pytest.mark.parametrize("spec", ENGINES)
def test_a_file_builds_the_same_engine(tmp_path: Path, spec: Spec, name: str) -> None:
    path = tmp_path / name
    write_engine(spec, str(path), comment="why it is recommended")
    (written,) = read_specs(path).values()
    assert written.name == spec.name
    assert built(written) == built(spec)
    assert path.read_text(encoding="utf-8").startswith("# why") == name.endswith(".yaml")


def test_scripts_beside_the_file_move_with_it(tmp_path: Path) -> None:
    params = {
        "command": ["python3", f"{tmp_path}/find.py", "--config={config}", "{query}"],
        "parameters": {"config": f"{tmp_path}/small.json"},
    }
    write_engine(Spec("engine", "command", params), str(tmp_path / "best.yaml"))
    text = (tmp_path / "best.yaml").read_text(encoding="utf-8")
    assert str(tmp_path) not in text
    other = tmp_path / "other"
    other.mkdir()
    (other / "best.yaml").write_text(text, encoding="utf-8")
    (moved,) = read_specs(other / "best.yaml").values()
    assert moved.params["parameters"] == {"config": f"{other}/small.json"}


def test_what_a_file_cannot_hold_is_refused(tmp_path: Path) -> None:
    spec = Spec("engine", "python", {"class": LOOSE, "options": {"size": 256}})
    with pytest.raises(InputError, match=r"YAML has texts only.*write a \.json file"):
        write_engine(spec, str(tmp_path / "best.yaml"))
    write_engine(spec, str(tmp_path / "best.json"))
    with pytest.raises(InputError, match=r"best\.txt: expected a name that ends in \.yaml"):
        write_engine(spec, str(tmp_path / "best.txt"))
