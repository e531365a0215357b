"""What a changed file is in a commit: something to be found, a test, or neither."""

import re
from enum import StrEnum
from functools import cache, lru_cache

from karat.corpus.traits import Trait, classify

__all__ = ["Role", "role_of"]


class Role(StrEnum):
    """What a file is for; the first that holds in this order decides.

    VENDORED and GENERATED files were not written here, so they come first: a vendored test is no
    test of this project. OTHER is what no search for code finds: images, binaries, unknown names.
    """

    VENDORED = "vendored"
    GENERATED = "generated"
    LOCK = "lock"
    TEST = "tests"
    DOCS = "docs"
    CONFIG = "config"
    EXAMPLE = "examples"
    BUILD = "build"
    SOURCE = "source"
    OTHER = "other"


_BY_TRAIT = (
    (Trait.VENDORED, Role.VENDORED),
    (Trait.GENERATED | Trait.MINIFIED, Role.GENERATED),
    (Trait.LOCK, Role.LOCK),
    (Trait.TEST, Role.TEST),
    (Trait.DOCS, Role.DOCS),
    (Trait.CONFIG, Role.CONFIG),
)
# Code that a search finds, but that no change is about: programs that show how to use the project,
# and those that build it.
_EXAMPLES = re.compile(r"(?i)(?:^|/)(?:examples?|samples?|demos?|tutorials?|benchmarks?)(?:/|$)")
_BUILD_FOLDER = re.compile(r"(?i)(?:^|/)\.(?:github|ci)(?:/|$)|^(?:scripts?|hack)(?:/|$)")
_BUILD_FILE = re.compile(
    r"(?i)(?:setup\.py|noxfile\.py|fabfile\.py|gulpfile\.[a-z]+|gruntfile\.[a-z]+|rakefile|gemfile"
    r"|build\.rs|.*\.(?:gemspec|gradle\.kts|cmake|gypi?)|[\w.-]+\.config\.[cm]?[jt]s)$"
)


def role_of(path: str) -> Role:
    """Return what the file at *path* is for.

    >>> [role_of(path).value for path in ("a.py", "tests/a.py", "vendor/a_test.go", "a.png")]
    ['source', 'tests', 'vendored', 'other']
    """
    language, traits = classify(path)
    if traits:
        return _by_traits(traits)
    if not language:
        return Role.OTHER
    folder, _, name = path.rpartition("/")
    role = _in_folder(folder)
    return Role.BUILD if role is Role.SOURCE and _BUILD_FILE.match(name) else role


# Flags are slow to join, and few sets of them occur.
@cache
def _by_traits(traits: Trait) -> Role:
    return next(role for trait, role in _BY_TRAIT if trait & traits)


# A history names thousands of files in each folder.
@lru_cache(maxsize=1 << 14)
def _in_folder(folder: str) -> Role:
    if _EXAMPLES.search(folder):
        return Role.EXAMPLE
    return Role.BUILD if _BUILD_FOLDER.search(folder) else Role.SOURCE
