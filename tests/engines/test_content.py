"""The files of an engine, and whether their content has changed."""

import sys
from pathlib import Path

import pytest

from karat.engines.content import engine_content, engine_files
from karat.engines.spec import parse_spec


def names(spec: object) -> list[str]:
    return [Path(file).name for file in engine_files(parse_spec(spec))]  # type: ignore[arg-type]


def test_the_files_of_engines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_watched.py").write_text("class Mine: ...")
    (tmp_path / "search.sh").write_text("echo")
    (tmp_path / "fast.json").write_text("{}")
    monkeypatch.syspath_prepend(str(tmp_path))
    script, config = tmp_path / "search.sh", f"--config={tmp_path / 'fast.json'}"
    command = {"engine": "command", "command": ["sh", str(script), config, "{query}"]}
    assert names("my_watched:Mine") == ["my_watched.py"]
    assert names({"engine": "python", "class": "my_watched:Mine"}) == ["my_watched.py"]
    assert names(command) == ["search.sh", "fast.json"]
    assert names({"engine": "rerank", "over": command}) == ["search.sh", "fast.json"]
    assert names({"engine": "bm25", "chunker": "my_watched:cut"}) == ["my_watched.py"]
    assert names("bm25") == []
    assert names("no_such_package.module:Mine") == []
    assert names({"engine": "command", "command": ["sh", "/" + "x" * 5000]}) == []


def test_the_content_of_a_command(tmp_path: Path) -> None:
    script = tmp_path / "search.py"
    script.write_text("print('[]')")
    spec = parse_spec({"engine": "command", "command": [sys.executable, str(script), "{query}"]})
    before = engine_content(spec)
    assert set(before) == {sys.executable, str(script)}
    assert engine_content(spec) == before
    script.write_text("print('[1]')")
    after = engine_content(spec)
    assert {path for path in after if after[path] != before[path]} == {str(script)}
    script.unlink()
    assert set(engine_content(spec)) == {sys.executable}


def test_a_built_in_engine_has_no_files_of_its_own() -> None:
    assert engine_content(parse_spec("bm25")) == {}
