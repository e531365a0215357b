"""The purpose of a file by its path: test, docs, configuration, lock, vendored or generated.

Corpora, engines and mining all use this module, so that they agree.
"""

import re
from enum import Flag, auto
from functools import cache, lru_cache
from typing import NamedTuple

from karat.corpus.chunkers.grammars import CONFIG, PROSE, language_of


class Trait(Flag):
    """Purposes of a file besides source code; several may apply."""

    NONE = 0
    TEST = auto()
    DOCS = auto()
    CONFIG = auto()
    LOCK = auto()
    VENDORED = auto()
    GENERATED = auto()
    MINIFIED = auto()
    CHANGELOG = auto()
    LICENSE = auto()


class FileClass(NamedTuple):
    """The language and the traits of a path."""

    language: str
    traits: Trait

    @property
    def is_test(self) -> bool:
        """Return whether this is a test, or something that only tests use."""
        return Trait.TEST in self.traits

    @property
    def is_docs(self) -> bool:
        """Return whether it is documentation: prose, and all files below ``docs/``."""
        return Trait.DOCS in self.traits

    @property
    def is_config(self) -> bool:
        """Return whether it configures a tool or a program."""
        return Trait.CONFIG in self.traits

    @property
    def is_lock(self) -> bool:
        """Return whether a package manager wrote it to pin versions."""
        return Trait.LOCK in self.traits

    @property
    def is_vendored(self) -> bool:
        """Return whether it is a copy of someone else's code."""
        return Trait.VENDORED in self.traits

    @property
    def is_generated(self) -> bool:
        """Return whether its name marks it as generated; its content is not read."""
        return Trait.GENERATED in self.traits

    @property
    def is_source(self) -> bool:
        """Return whether it is production code: a language, and none of the traits."""
        return bool(self.language) and not self.traits


_TEST_FOLDERS = frozenset(
    {
        "test",
        "tests",
        "__tests__",
        "__mocks__",
        "testing",
        "testdata",
        "test-data",
        "testsuite",
        "testsuites",
        "e2e",
        "unittest",
        "unittests",
        "spec",
        "specs",
        "androidtest",
        "testutil",
        "testutils",
        "test_utils",
        "test-utils",
        "testhelper",
        "testhelpers",
        "test_helpers",
        "test-helpers",
    }
)
_DOCS_FOLDERS = frozenset({"doc", "docs", "documentation"})
_VENDORED_FOLDERS = frozenset(
    {
        "vendor",
        "vendors",
        "vendored",
        "_vendor",
        "third_party",
        "third-party",
        "thirdparty",
        "3rdparty",
        "node_modules",
        "bower_components",
        "jspm_packages",
        "site-packages",
        "godeps",
        "pods",
        "carthage",
    }
)
_CHANGELOG_FOLDERS = frozenset(
    {"changelog", "changelogs", "changelog.d", "newsfragments", "release-notes", "releasenotes"}
)
# CHANGELOG.md, CHANGES.rst, news-0.10.txt, release_notes_2.md; only for prose.
_CHANGELOG_NAME = re.compile(
    r"^(?:change-?logs?|changes|history|news|release[_-]?notes|whats?[_-]?new)(?:[_.-].*)?$"
)
_LICENSE_NAME = re.compile(
    r"^(?:un)?(?:licen[cs]e|copying|copyright|notice|patents)s?(?:[_.-].*)?$"
)
# Copies of other projects, one per folder, at the top of a repository: deps/lua/src/lapi.c.
_VENDORED_ON_TOP = frozenset({"deps", "extern", "external", "externals", "subprojects"})
# A folder "doc" below one of these holds code about documents.
_SOURCE_FOLDERS = frozenset({"src", "lib", "libs", "crates", "internal", "pkg", "cmd"})
# Languages whose file names do not mark tests: zig_test.vim runs the tests of Zig.
_NO_TEST_NAMES = PROSE | {"cmake", "vim"}
_GENERATED_FOLDERS = frozenset({"generated", "__generated__", "gen-src", "__snapshots__"})

_TEST_NAME = re.compile(
    # test_x.py, x_test.go, x.spec.ts
    r"^(?:test_.*|tests?|conftest|.*[_.-](?:tests?|spec))\.[a-z]+$"
)
# FooTest.java, but not latest.java: the capital letter decides.
_TEST_CLASS = re.compile(r"(?:[a-z0-9](?:Tests?|TestCase|Spec|IT)|^Test[A-Z]\w*)\.[a-z]+$")
_LOCK_NAME = re.compile(
    r"^(?:.*\.lock|.*\.lockb|.*\.lockfile|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.ya?ml"
    r"|packages\.lock\.json|go\.sum|pylock.*\.toml|package\.resolved)$"
)
_GENERATED_NAME = re.compile(
    r"(?:_pb2(?:_grpc)?\.pyi?|\.pb(?:\.gw)?\.(?:go|cc|h|dart)|_grpc\.pb\.go|\.(?:g|freezed)\.dart"
    r"|\.(?:g|designer|generated)\.cs|[._-]generated\.[a-z]+|\.snap|\.map|^bindata\.go"
    r"|^zz_generated.*)$"
)
_MINIFIED_NAME = re.compile(r"[.-]min\.(?:js|mjs|css|html)$|\.bundle\.(?:js|css)$")
# Bundlers add a hash of the content: assets/index-BMoFnAfk.js, static/js/main.3f9a1b2c.chunk.js.
_BUILT_FOLDERS = frozenset({"assets", "static", "dist", "build"})
_HASHED_NAME = re.compile(
    r"(?:-(?P<short>[A-Za-z0-9_-]{8})|[.-](?P<hex>[0-9a-f]{8,20})(?:\.chunk)?)\.(?:js|css)$"
)
_CASE_PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_WORD = re.compile(r"[a-z]{3}")
_CONFIG_NAME = re.compile(r"^(?:requirements.*\.txt|constraints.*\.txt|.*cmakelists\.txt|\..*rc)$")


@lru_cache(maxsize=1 << 16)
def classify(path: str) -> FileClass:
    """Return the language and the traits of *path*, which has forward slashes.

    >>> classify("src/auth.py").is_source, classify("tests/auth.py").is_test
    (True, True)
    >>> classify("web/vendor/jquery.min.js").traits
    <Trait.VENDORED|MINIFIED: 80>
    """
    folder, _, name = path.rpartition("/")
    language = language_of(path)
    of_folder, of_name = _of_folder(folder), _of_name(name, language)
    if (of_folder | of_name) & Trait.TEST.value and language == "python":
        if _is_test_library(folder):
            of_folder &= ~Trait.TEST.value
        if name == "test.py" and folder and not of_folder & Trait.TEST.value:
            # A public test client, as in Werkzeug; tests of a package are in test_*.py or tests.py.
            of_name &= ~Trait.TEST.value
    if language not in PROSE:
        of_folder &= ~Trait.CHANGELOG.value
        if of_folder & Trait.DOCS.value and language not in CONFIG and _is_source_folder(folder):
            of_folder &= ~Trait.DOCS.value
    elif of_folder & Trait.DOCS.value:
        # A page of a manual is a page, whether it is about testing, news or licences.
        of_folder &= ~(Trait.TEST | Trait.CHANGELOG).value
        of_name &= ~(Trait.CHANGELOG | Trait.LICENSE).value
    if name.endswith((".js", ".css")) and _is_hashed(name) and _is_built_folder(folder):
        of_name |= Trait.GENERATED.value
    return FileClass(language, _trait_set(of_folder | of_name))


def docs_folder(path: str) -> str:
    """Return the topmost folder of documentation above *path*, "" without one.

    >>> docs_folder("web/docs/src/docs/use.md"), docs_folder("docs.md")
    ('web/docs', '')
    """
    steps = path.split("/")[:-1]
    for depth, step in enumerate(steps, start=1):
        if step.lower() in _DOCS_FOLDERS:
            return "/".join(steps[:depth])
    return ""


# A history names thousands of files in each folder, so that its traits are worked out once.
@lru_cache(maxsize=1 << 14)
def _of_folder(folder: str) -> int:
    steps = folder.lower().split("/")
    above = set(steps)
    return _holding(
        (Trait.TEST, above & _TEST_FOLDERS),
        (Trait.DOCS, above & _DOCS_FOLDERS),
        (
            Trait.VENDORED,
            above & _VENDORED_FOLDERS or (len(steps) > 1 and steps[0] in _VENDORED_ON_TOP),
        ),
        (Trait.GENERATED, above & _GENERATED_FOLDERS),
        (Trait.CHANGELOG, above & _CHANGELOG_FOLDERS),
    )


@lru_cache(maxsize=1 << 14)
def _is_test_library(folder: str) -> bool:
    """Return whether Python files in *folder* help the users of a package to test.

    That is ``testing`` within a package, or a package below ``src`` that is called ``test_...``.

    >>> [_is_test_library(folder) for folder in ("numpy/testing", "testing", "numpy/testing/tests")]
    [True, False, False]
    """
    steps = folder.lower().split("/")
    first = 1 if steps[0] == "src" else 0
    return all(
        (step == "testing" and depth > first) or (first == 1 == depth and step.startswith("test_"))
        for depth, step in enumerate(steps)
        if step in _TEST_FOLDERS
    )


@lru_cache(maxsize=1 << 14)
def _is_source_folder(folder: str) -> bool:
    """Return whether the first folder of documentation in *folder* is below one of sources."""
    steps = folder.lower().split("/")
    first = next(depth for depth, step in enumerate(steps) if step in _DOCS_FOLDERS)
    return bool(_SOURCE_FOLDERS.intersection(steps[:first]))


@lru_cache(maxsize=1 << 16)
def _of_name(name: str, language: str) -> int:
    lower = name.lower()
    return _holding(
        (
            Trait.TEST,
            language not in _NO_TEST_NAMES
            and (_TEST_NAME.match(lower) or _TEST_CLASS.search(name)),
        ),
        (Trait.DOCS, language in PROSE),
        (Trait.CONFIG, language in CONFIG or _CONFIG_NAME.match(lower)),
        (Trait.LOCK, _LOCK_NAME.match(lower)),
        (Trait.GENERATED, _GENERATED_NAME.search(lower)),
        (Trait.MINIFIED, _MINIFIED_NAME.search(lower)),
        (Trait.CHANGELOG, language in PROSE and _CHANGELOG_NAME.match(lower)),
        (Trait.LICENSE, language in PROSE and _LICENSE_NAME.match(lower)),
    )


def _is_built_folder(folder: str) -> bool:
    return not _BUILT_FOLDERS.isdisjoint(folder.lower().split("/"))


def _is_hashed(name: str) -> bool:
    """Return whether *name* ends with a hash of its content, not with words or a version.

    >>> [_is_hashed(f"{name}.js") for name in ("index-BMoFnAfk", "main.3f9a1b2c", "a-x7_Kq-2Z")]
    [True, True, True]
    >>> [_is_hashed(f"{name}.js") for name in ("my-DataView", "to-do-list-2", "a-20240101")]
    [False, False, False]
    """
    match = _HASHED_NAME.search(name)
    if not match:
        return False
    text = match["short"] or match["hex"]
    has_lower, has_upper = text != text.upper(), text != text.lower()
    has_digit = any(map(str.isdigit, text))
    if has_lower and has_upper:
        # Letters alone must change case more often than names in camel case do.
        short = sum(len(part) < 3 for part in _CASE_PART.findall(text))
        return not _WORD.search(text) and (short > 2 or _has_inner_digit(text))
    if has_upper:
        return text.isalnum() and _has_inner_digit(text)
    return has_lower and has_digit and re.fullmatch("[0-9a-f]+", text) is not None


def _has_inner_digit(text: str) -> bool:
    """Return whether *text* has a digit before its end: names may end with a number."""
    return bool(re.search(r"\d.*\D", text))


def _holding(*traits: tuple[Trait, object]) -> int:
    return sum(trait.value for trait, true in traits if true)


# Flags are slow to join; their numbers are not, and few sets of them occur.
_trait_set = cache(Trait)
