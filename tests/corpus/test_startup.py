"""Commands that need no corpus load none, and making a chunker loads no grammar."""

import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = """
import sys
from karat.cli import main
sys.argv[0] = "karat"
try:
    main()
finally:
    print([name for name in sys.modules if name.startswith(("tree_sitter", "karat.corpus"))],
          file=sys.stderr)
"""
CHUNKERS = """
import sys
from karat.corpus import CHUNKERS, create_chunker
for name in CHUNKERS.built_in():
    create_chunker(name)
print([name for name in sys.modules if name.split(".")[0] in ("tree_sitter", "numpy", "pathspec")],
      file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("code", "arguments"),
    [
        (COMMAND, ["--help"]),
        (COMMAND, ["score", "gold.qrels", "keyword.run"]),
        (CHUNKERS, []),
    ],
    ids=["help", "score", "chunkers"],
)
def test_nothing_heavy_is_loaded(code: str, arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "gold.qrels").write_text("q1 0 d1 1\n", encoding="utf-8")
    (tmp_path / "keyword.run").write_text("q1 Q0 d1 1 2.5 x\n", encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr.strip() == "[]"
