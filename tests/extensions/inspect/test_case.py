"""How karat inspect prints a case; tests of mining show what it reads of mined ones."""

import json
from collections.abc import Callable
from pathlib import Path
from subprocess import CompletedProcess

import pytest

from karat.extensions.inspect.case import CaseDetails

Karat = Callable[..., CompletedProcess[str]]


def test_long_lines_and_diffs_are_cut(
    karat: Karat, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"dist/a.js": [f"+{'x' * 400_000}"], "long.py": [f"+{n}" for n in range(1000)]}
    diff = "\n".join(
        line for name, lines in files.items() for line in (f"diff --git a/{name}", *lines)
    )
    monkeypatch.setattr(
        "karat.extensions.inspect.case.inspect_case",
        lambda _dataset, query, **_: CaseDetails(query, "", f"{diff}\ndiff --git a/b.py\n+y", ()),
    )
    output = karat("inspect", "code.csv", "1").stdout
    assert f"\n  +{'x' * 299}...\n  diff --git a/long.py\n  +0\n" in output
    rest = "  +298\n  ... 701 more lines of this file; --json prints all\n"
    assert output.endswith(f"{rest}  diff --git a/b.py\n  +y\n")
    assert len(json.loads(karat("inspect", "code.csv", "1", "--json").stdout)["diff"]) > 400_000
