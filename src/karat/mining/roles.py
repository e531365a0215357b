"""What a changed file is in a commit: something to be found, a test, or neither."""

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
    return Role.SOURCE if language else Role.OTHER
