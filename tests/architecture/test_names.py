"""A class name means one thing, and is a noun."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

SOURCE = Path(__file__).resolve().parents[2] / "src" / "karat"
# API schemas have the names of what they mirror.
MIRRORS = ("extensions/service/schemas/",)
# Irregular participles that the endings -ed and -en miss; "Split", "Cut", "Hit" and "Run" are
# nouns of the field only where GLOSSARY.md lists them.
# fmt: off
IRREGULAR = frozenset({
    "Asked", "Begun", "Bought", "Bound", "Brought", "Built", "Caught", "Come", "Cut", "Done",
    "Drawn", "Dug", "Fed", "Felt", "Found", "Gone", "Heard", "Held", "Kept", "Known", "Laid",
    "Led", "Left", "Lent", "Lost", "Made", "Meant", "Met", "Paid", "Put", "Read", "Said", "Sent",
    "Set", "Shown", "Shut", "Sold", "Sought", "Spent", "Split", "Spun", "Stood", "Struck",
    "Stuck", "Swung", "Taught", "Thought", "Told", "Torn", "Understood", "Won", "Worn", "Wound",
})
# fmt: on
NOUNS = {"Token"}


def classes() -> Iterator[tuple[str, str]]:
    """Yield the file and the name of every class in the source."""
    for module in sorted(SOURCE.rglob("*.py")):
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                yield module.relative_to(SOURCE).as_posix(), node.name


def is_participle(name: str) -> bool:
    """Return whether *name* is a single word that is a participle.

    >>> [is_participle(name) for name in ("Taken", "_Kept", "Scored", "ScoredRun", "Token")]
    [True, True, True, False, False]
    """
    word = name.lstrip("_")
    if word in NOUNS or not re.fullmatch(r"[A-Z][a-z]+", word):
        return False
    return word in IRREGULAR or word.endswith(("ed", "en"))


def test_no_two_public_classes_share_a_name() -> None:
    files = defaultdict(list)
    for file, name in classes():
        if not name.startswith("_") and not file.startswith(MIRRORS):
            files[name].append(file)
    assert {name: where for name, where in files.items() if len(where) > 1} == {}


def test_no_class_is_a_bare_participle() -> None:
    assert [f"{file}: {name}" for file, name in classes() if is_participle(name)] == []
