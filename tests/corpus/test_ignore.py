"""Ignore rules, held against Git itself."""

import subprocess
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.corpus import from_folder
from karat.corpus.files.folder import IgnoreRules, is_ignored


@pytest.mark.parametrize(
    ("lines", "path", "folder", "ignored"),
    [
        (["*.log"], "a/b.log", False, True),
        (["*.log", "!b.log"], "a/b.log", False, False),
        (["!b.log", "*.log"], "a/b.log", False, True),
        (["/a"], "a", False, True),
        (["/a"], "b/a", False, False),
        (["a/"], "a", False, False),
        (["a/"], "x/a", True, True),
        (["a/b"], "x/a/b", False, False),
        (["**/b"], "x/a/b", False, True),
        (["a/**"], "a", True, False),
        (["a/**"], "a/b", True, True),
        (["a/**/"], "a/b", False, False),
        (["a/**/"], "a/b", True, True),
        (["a/**/z"], "a/b/c/z", False, True),
        (["*", "!*/", "!*.py"], "a/b", True, False),
        (["*", "!*/", "!*.py"], "a/b/c.py", False, False),
        (["*", "!*/", "!*.py"], "a/b/c.txt", False, True),
        (["# a", "", "\\#b"], "#b", False, True),
        (["a["], "a[", False, False),
        (["!", "/", "!/", "\\", "a"], "a", False, True),
        (["a b  "], "a b", False, True),
    ],
)
def test_patterns_mean_what_they_mean_to_git(
    lines: list[str], path: str, folder: bool, ignored: bool
) -> None:
    assert is_ignored(path, folder=folder, rules=[IgnoreRules("", lines)]) is ignored


def test_the_deepest_file_decides() -> None:
    rules = [IgnoreRules("", ["*.log"]), IgnoreRules("a", ["!keep.log", "/own"])]
    assert not is_ignored("a/keep.log", folder=False, rules=rules)
    assert is_ignored("a/own", folder=False, rules=rules)
    assert is_ignored("a/other.log", folder=False, rules=rules)


NAMES = st.sampled_from(["a", "b", "c", "ab", "a.x", "b.x"])
SEGMENTS = st.sampled_from(["a", "b", "c", "*", "?", "a*", "*.x", "**", "[ab]", "ab"])
PATTERNS = st.builds(
    lambda negated, rooted, parts, folder: (
        ("!" if negated else "")
        + ("/" if rooted else "")
        + "/".join(parts)
        + ("/" if folder else "")
    ),
    st.booleans(),
    st.booleans(),
    st.lists(SEGMENTS, min_size=1, max_size=3),
    st.booleans(),
)
RULES = st.dictionaries(st.sampled_from(["", "a", "b", "a/b"]), st.lists(PATTERNS, max_size=5))
PATHS = st.sets(st.lists(NAMES, min_size=1, max_size=4).map("/".join), min_size=1, max_size=12)


@settings(max_examples=60)
@given(rules=RULES, paths=PATHS)
def test_a_folder_holds_what_git_would_add(rules: dict[str, list[str]], paths: set[str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = Path(name)
        subprocess.run(["git", "init", "--quiet"], cwd=root, check=True)
        for path in sorted(paths):
            file = root / path
            if file.exists() or any(parent.is_file() for parent in file.parents):
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text("x", encoding="utf-8")
        for folder, lines in rules.items():
            if (root / folder).is_dir():
                (root / folder / ".gitignore").write_text("\n".join(lines), encoding="utf-8")
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--others", "--exclude-per-directory=.gitignore"],
            cwd=root,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.split("\0")
        expected = sorted(path for path in listed if path and not path.endswith(".gitignore"))
        assert [document.path for document in from_folder(root)] == expected
