"""What a changed file is in a commit: something to be found, a test, or neither."""

import re
from enum import StrEnum

from karat.corpus import Trait, classify

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
_BY_NAME = (
    (re.compile(r"(?i)(?:^|/)(?:examples?|samples?|demos?|tutorials?|benchmarks?)/"), Role.EXAMPLE),
    (
        re.compile(
            r"(?i)(?:^|/)(?:setup\.py|noxfile\.py|fabfile\.py|gulpfile\.[a-z]+|gruntfile\.[a-z]+"
            r"|rakefile|gemfile|build\.rs|[^/]*\.(?:gemspec|gradle\.kts|cmake|gypi?)"
            r"|[\w.-]+\.config\.[cm]?[jt]s|\.github/.*|\.ci/.*)$|^(?:scripts?|hack)/"
        ),
        Role.BUILD,
    ),
)


def role_of(path: str) -> Role:
    """Return what the file at *path* is for.

    >>> [role_of(path).value for path in ("a.py", "tests/a.py", "vendor/a_test.go", "a.png")]
    ['source', 'tests', 'vendored', 'other']
    """
    language, traits = classify(path)
    if traits:
        for trait, role in _BY_TRAIT:
            if trait & traits:
                return role
    if not language:
        return Role.OTHER
    for pattern, role in _BY_NAME:
        if pattern.search(path):
            return role
    return Role.SOURCE
