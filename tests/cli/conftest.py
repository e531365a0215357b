"""A command line called in this process, and a small gold set with runs to call it on."""

from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.cli import main

# Query q3 is not in old.run, q4 has no relevant document and q9 is not in the gold set.
FILES = {
    "gold.qrels": "q1 0 a 2\nq1 0 b 1\nq2 0 c 1\nq3 0 d 1\nq4 0 z 0\n",
    "old.run": "q1 Q0 x 1 3 t\nq1 Q0 a 2 2 t\nq1 Q0 b 3 1 t\nq2 Q0 c 1 1 t\nq9 Q0 a 1 1 t\n",
    "new.run": "q1 Q0 a 1 3 t\nq1 Q0 b 2 2 t\nq2 Q0 c 1 1 t\nq3 Q0 d 1 1 t\nq4 Q0 z 1 1 t\n",
    "code.csv": (
        "query,result1,result2,level\n"
        "where is login,src/a.py:10-19:2,src/b.py:1-5:1,easy\n"
        "where is logout,src/c.rs:1-10:1,,hard\n"
        "where is reset,src/d.py:5-9:1,,hard\n"
    ),
    "code.jsonl": (
        '{"format": "karat-run", "version": 1, "name": "agent"}\n'
        '{"query_id": "1", "hits": ['
        '{"path": "src/a.py", "score": 2, "start_line": 10, "end_line": 29, "tokens": 50}, '
        '{"path": "src/a.py", "score": 1, "start_line": 10, "end_line": 29, "tokens": 50}]}\n'
        '{"query_id": "2", "outcome": "error", "hits": []}\n'
        '{"query_id": "3", "outcome": "timeout", "hits": []}\n'
    ),
}

Karat = Callable[..., CompletedProcess[str]]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the current folder, which holds FILES."""
    for name, text in FILES.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def karat(folder: Path, capsys: pytest.CaptureFixture[str]) -> Karat:
    """Return a function that runs `karat *arguments*` among FILES."""

    def run(*arguments: str) -> CompletedProcess[str]:
        with pytest.raises(SystemExit) as caught:
            main(arguments)
        streams = capsys.readouterr()
        # As the interpreter takes it: no code is 0.
        code = caught.value.code or 0
        assert isinstance(code, int)
        return CompletedProcess(arguments, code, streams.out, streams.err)

    return run
