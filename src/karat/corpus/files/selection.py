"""Select the files of a corpus by kind and by glob, name the skipped, find the documentation."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from functools import lru_cache
from posixpath import splitext
from typing import TYPE_CHECKING, NamedTuple

from karat.corpus.chunkers.grammars import PROSE
from karat.corpus.files.content import NEEDS_DOCUMENTS
from karat.corpus.files.traits import FileClass, Trait, classify, docs_folder
from karat.corpus.snapshot import Corpus, Document
from karat.errors import InputError
from karat.installation import install_hint
from karat.system.words import counted

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec


FILE_KINDS = ("docs", "code", "all")
# Why a document that exists is not searched, and the option that includes it.
LEFT_OUT = {
    "test": "a test; --candidates all includes it",
    "other-kind": "of another kind; --kind all includes it",
    "not-included": "not matched by --include",
    "excluded": "matched by --exclude",
    "hidden": "hidden; hidden files are never searched",
}
# Prose with one of these traits answers no question about a product.
_NO_DOCS = Trait.TEST | Trait.LICENSE | Trait.CHANGELOG
# A folder with less of the text is one of several, and nothing says that it is the main one.
MAIN_SHARE = 0.5


@lru_cache(maxsize=1 << 12)
def _kind(file: FileClass) -> str:
    """Return ``docs``, ``code``, or "" for prose that is neither."""
    language, traits = file
    if language == "html":
        # Elsewhere it is a template.
        return "docs" if Trait.DOCS in traits else "code"
    if language not in PROSE or Trait.CONFIG in traits:
        return "code"
    return "" if traits & _NO_DOCS else "docs"


def kind_of(path: str) -> str:
    """Return ``docs`` or ``code``, and "" for an unknown name.

    Prose is documentation, and so is HTML in a folder of documentation. Licences, changelogs and
    prose for tests are neither. The rest is code, configuration included.

    >>> [kind_of(path) for path in ("README.md", "src/a.py", "docs/conf.py", "CHANGES.md", "a7")]
    ['docs', 'code', 'code', '', '']
    """
    file = classify(path)
    return _kind(file) if file.language else ""


def common_kind(paths: Iterable[str]) -> str:
    """Return the kind that all *paths* have, ``all`` if they differ or a name is unknown.

    >>> common_kind(["docs/a.md", "README.rst"]), common_kind(["a.md", "a.py"]), common_kind([])
    ('docs', 'all', 'all')
    """
    kinds = {kind_of(path) for path in paths}
    (kind,) = kinds if len(kinds) == 1 else ("",)
    return kind or "all"


def declared_kind(metadata: Mapping[str, object]) -> str:
    """Return the kind that the *metadata* of a gold set choose, "" if they choose none.

    ``kind`` is what ``karat generate`` writes. A set that version 0.2 has made says how: from
    headings of documentation, from code, or from the commits that change production code.

    >>> declared_kind({"kind": "docs"}), declared_kind({"generated_from": "docstrings"})
    ('docs', 'code')
    """
    kind, made_from = (str(metadata.get(key) or "") for key in ("kind", "generated_from"))
    if kind in FILE_KINDS:
        return kind
    if made_from:
        return "docs" if made_from in ("headings", "docs") else "code"
    is_mined = "total_commits_analyzed" in metadata
    return "code" if is_mined and metadata.get("candidates") == "production" else ""


class FileSelection(NamedTuple):
    """The files of a corpus to search: a *kind*, and globs with the syntax of ``.gitignore``.

    A file is selected if it is of the kind, matches one of *include* (where there are any), and
    none of *exclude*. A pattern that names a folder stands for all files below it.

    >>> from karat.corpus import from_texts
    >>> corpus = from_texts({"docs/use.md": "", "docs/old/use.md": "", "src/a.py": ""})
    >>> [d.path for d in FileSelection("docs", exclude=("old/",)).apply(corpus)]
    ['docs/use.md']
    """

    kind: str = "all"
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()

    def check(self) -> None:
        """Raise InputError for an unknown kind or a pattern that cannot match any file."""
        if self.kind not in FILE_KINDS:
            raise InputError(
                f"kind {self.kind!r} is not valid; expected one of: {', '.join(FILE_KINDS)}"
            )
        for name, patterns in (("include", self.include), ("exclude", self.exclude)):
            if patterns:
                _compiled(name, patterns)

    def apply(self, corpus: Corpus) -> Corpus:
        """Return the selected documents of *corpus*; the others count as skipped."""
        self.check()
        return corpus if self == EVERYTHING else corpus.without_documents(self.reason)

    def reason(self, document: Document) -> str:
        """Return why *document* is left out: a key of :data:`LEFT_OUT`, "" if it is selected."""
        if self.include and not _compiled("include", self.include).match_file(document.path):
            return "not-included"
        if self.exclude and _compiled("exclude", self.exclude).match_file(document.path):
            return "excluded"
        return "other-kind" if self.kind not in ("all", document_kind(document)) else ""

    def to_json(self) -> dict[str, object]:
        """Return the parts that differ from the default."""
        lists = {"include": list(self.include), "exclude": list(self.exclude)}
        named = {name: patterns for name, patterns in lists.items() if patterns}
        return {"kind": self.kind, **named} if self.kind != "all" else {**named}


EVERYTHING = FileSelection()


def document_kind(document: Document) -> str:
    """Return ``docs`` or ``code``, and "" for prose that is neither; see :func:`kind_of`."""
    # A document that is not a file, such as one of BEIR, has a language that its name lacks. The
    # text of an HTML page is prose, but the kind of the page follows from its name.
    named = classify(document.path)
    is_page = named.language == "html"
    return _kind(named if is_page else FileClass(document.language, document.traits))


@lru_cache(maxsize=64)
def _compiled(name: str, patterns: tuple[str, ...]) -> "GitIgnoreSpec":
    from pathspec import GitIgnoreSpec

    for pattern in patterns:
        try:
            empty = all(
                each.include is None for each in GitIgnoreSpec.from_lines([pattern]).patterns
            )
        except ValueError as error:
            raise InputError(f"{name} {pattern!r} is not a valid pattern: {error}") from error
        if empty:
            raise InputError(f"{name} {pattern!r} matches no file; expected a glob such as docs/**")
    return GitIgnoreSpec.from_lines(patterns)


# Files that users do not expect to be searched; they are counted, not named.
_ASSETS = frozenset(
    [
        ".png",
        ".jpg",
        ".jpeg",
        ".gif",
        ".ico",
        ".icns",
        ".webp",
        ".bmp",
        ".tif",
        ".tiff",
        ".psd",
        ".svgz",
        ".woff",
        ".woff2",
        ".ttf",
        ".otf",
        ".eot",
        ".mp3",
        ".mp4",
        ".wav",
        ".ogg",
        ".webm",
        ".mov",
        ".avi",
        ".zip",
        ".gz",
        ".tgz",
        ".bz2",
        ".xz",
        ".zst",
        ".7z",
        ".tar",
        ".jar",
        ".war",
        ".whl",
        ".so",
        ".dll",
        ".dylib",
        ".exe",
        ".o",
        ".a",
        ".lib",
        ".class",
        ".pyc",
        ".wasm",
        ".bin",
        ".dat",
        ".db",
        ".sqlite",
        ".gpg",
        ".keystore",
        ".der",
    ]
)
_REASONS = {
    "binary": "binary",
    "too-large": "larger than 1 MB",
    "lfs-pointer": "stored in Git LFS",
    "missing": "absent from this partial clone",
    "unreadable": "unreadable",
    "database": "part of an open SQLite database",
    "not-unicode": "not Unicode",
    "name-not-utf-8": "with a name that is not UTF-8",
    NEEDS_DOCUMENTS: "PDF or DOCX",
    "encrypted": "encrypted",
    "no-text": "without text, perhaps scanned",
    "damaged": "damaged",
    "too-much-text": "with more than 10 million characters",
    "extraction-timeout": "that took longer than a minute to extract",
}
_NAMED = 3


def skipped_by_reason(files: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the paths of *files* that hold content Karat cannot read, by reason.

    Ignored and hidden files, links, submodules and special files are left out: they are not part of
    the corpus.

    >>> skipped_by_reason({"b.pdf": "binary", "a.pdf": "binary", ".env": "hidden"})
    {'binary': ['a.pdf', 'b.pdf']}
    """
    by_reason = defaultdict(list)
    for path, reason in sorted(files.items()):
        if reason in _REASONS:
            by_reason[reason].append(path)
    return dict(sorted(by_reason.items()))


def skipped_text(files: Mapping[str, str]) -> str:
    """Return a line that counts and names the skipped *files*, "" if there are none.

    >>> skipped_text({"a.out": "binary", "logo.png": "binary", "data.json": "too-large"})
    'skipped 3 files: 1 binary (a.out), 1 larger than 1 MB (data.json), 1 image or other asset'
    """
    parts = []
    assets = 0
    by_reason = skipped_by_reason(files)
    for reason, paths in by_reason.items():
        named = [path for path in paths if splitext(path)[1].lower() not in _ASSETS]
        if reason != "binary":
            named = paths
        assets += len(paths) - len(named)
        if named:
            parts.append(f"{len(named):,} {_REASONS[reason]} ({_some(named)})")
    if assets:
        parts.append(
            "1 image or other asset" if assets == 1 else f"{assets:,} images and other assets"
        )
    if not parts:
        return ""
    total = sum(map(len, by_reason.values()))
    hint = (
        f"; to read PDF and DOCX: {install_hint('documents')}"
        if NEEDS_DOCUMENTS in by_reason
        else ""
    )
    return f"skipped {counted(total, 'file')}: {', '.join(parts)}{hint}"


def _some(paths: list[str]) -> str:
    more = f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else ""
    return f"{', '.join(paths[:_NAMED])}{more}"


def main_docs_folder(corpus: Corpus) -> str:
    r"""Return the folder with most of the text of *corpus*; "" without one.

    The folder is called ``docs``, ``doc`` or ``documentation`` and holds more than half of all
    bytes, vendored documents aside. A corpus with a file that is not documentation has none.

    >>> from karat.corpus import from_texts
    >>> texts = {"docs/use.md": "# Use\n\nFirst, log in.", "README.md": "# Shop"}
    >>> main_docs_folder(from_texts(texts)), main_docs_folder(from_texts({**texts, "a.py": ""}))
    ('docs', '')
    """
    bytes_of: Counter[str] = Counter()
    for document in corpus:
        if document_kind(document) != "docs":
            return ""
        if Trait.VENDORED not in document.traits:
            bytes_of[docs_folder(document.path)] += document.size
    total = bytes_of.total()
    return next((name for name, size in bytes_of.items() if name and size > total * MAIN_SHARE), "")
