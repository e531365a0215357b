"""The source of a corpus, as it is sent to another process."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Self

from karat.corpus import (
    Corpus,
    FileSelection,
    GitRepository,
    Trait,
    from_beir,
    from_folder,
    from_texts,
)
from karat.corpus.snapshot import mask_corpus, masks_from
from karat.errors import InputError
from karat.system.files import no_folder
from karat.system.tables import part_files

KINDS = ("folder", "git", "beir", "texts")
EVERYTHING = FileSelection()
# How often a walk through history is restarted; then each revision is read by itself.
MOST_DETOURS = 8


@dataclass(frozen=True, slots=True)
class Source:
    """A folder, a revision of a Git repository, a BEIR corpus, or texts in memory.

    *tests* False leaves out tests, as ``Corpus.without`` does. Only documents below the folder
    *root* and of the *selection* count, if there is one. *masks* hide lines; their form is that of
    :func:`karat.corpus.snapshot.masks_json`.

    >>> Source.git("flask", "2.0").revision
    '2.0'
    """

    kind: str
    path: str = ""
    revision: str = ""
    texts: Mapping[str, str] = field(default_factory=dict, repr=False)
    tests: bool = True
    root: str = ""
    selection: FileSelection = EVERYTHING
    masks: Mapping[str, object] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Reject an unknown kind, and restore a selection that was JSON."""
        if self.kind not in KINDS:
            raise InputError(f"a source is one of: {', '.join(KINDS)}; not {self.kind!r}")
        kind, include, exclude = self.selection
        selection = FileSelection(kind, tuple(include), tuple(exclude))
        object.__setattr__(self, "selection", selection)

    @classmethod
    def folder(cls, path: str, *, tests: bool = True) -> Self:
        """Return the folder at *path* on disk."""
        return cls("folder", str(Path(path).resolve()), tests=tests)

    @classmethod
    def git(cls, path: str, revision: str, *, tests: bool = True) -> Self:
        """Return what the repository at *path* held at *revision*."""
        return cls("git", str(Path(path).resolve()), revision, tests=tests)

    @classmethod
    def beir(cls, path: str) -> Self:
        """Return the documents of a BEIR folder."""
        return cls("beir", str(Path(path).resolve()))

    @classmethod
    def of_texts(cls, texts: Mapping[str, str]) -> Self:
        """Return *texts* by their paths; they travel to every process that needs them."""
        return cls("texts", texts=dict(texts))

    def selected(self, corpus: Corpus) -> Corpus:
        """Return the documents of *corpus* that count: *root*, *tests* and *selection*; masked."""
        corpus = corpus.below(self.root)
        chosen = self.selection.apply(corpus if self.tests else corpus.without(Trait.TEST))
        return mask_corpus(chosen, masks_from(self.masks, name=corpus.name))

    def to_json(self) -> dict[str, object]:
        """Return what :class:`Source` takes as keywords."""
        return asdict(self)


class Opener:
    """Opens sources; of one repository, each blob is looked at once.

    When another repository is opened, the one before is closed.
    """

    def __init__(self) -> None:
        """Start without a repository."""
        self._repositories: dict[str, GitRepository] = {}
        self._walks: dict[str, Iterator[tuple[str, Corpus]]] = {}
        # How often a repository was visited in another order than announced.
        self._detours: Counter[str] = Counter()

    def open(self, source: Source, ahead: Sequence[str] = ()) -> Corpus:
        """Return the corpus of *source*.

        *ahead* are the revisions of the same repository that will be opened next. Where they come
        in the order of history, only what changes from one to the next is read: 250 trees of
        Django take 13 s instead of 70.
        """
        corpus = self._revision(source, ahead) if source.kind == "git" else _whole(source)
        return source.selected(corpus)

    def close(self) -> None:
        """Close the repositories."""
        for repository in self._repositories.values():
            repository.close()
        self._repositories.clear()
        self._walks.clear()

    def _revision(self, source: Source, ahead: Sequence[str]) -> Corpus:
        path, revision = source.path, source.revision
        repository = self._repositories.get(path)
        if repository is None:
            # The processes of Git hold some hundred megabytes of a large repository.
            self.close()
            repository = self._repositories[path] = GitRepository(path)
        if self._detours[path] < MOST_DETOURS:
            snapshot = next(self._walks.get(path, iter(())), None)
            if snapshot and snapshot[0] != revision:
                # Another slot has taken over what was announced.
                self._detours[path] += 1
                snapshot = None
            if snapshot is None and ahead:
                walk = self._walks[path] = repository.snapshots([revision, *ahead])
                snapshot = next(walk)
            if snapshot and snapshot[0] == revision:
                return snapshot[1]
        return repository.corpus(revision)


def _whole(source: Source) -> Corpus:
    if source.kind == "folder":
        return from_folder(source.path)
    if source.kind == "beir":
        return from_beir(source.path)
    return from_texts(source.texts)


def load_corpus(
    path: str, *, revision: str | None = None, selection: FileSelection = EVERYTHING
) -> Corpus:
    """Return the documents of :func:`corpus_source` that are in *selection*.

    InputError if the selection leaves none of them.
    """
    source = corpus_source(path, revision=revision)
    whole = Opener().open(source)
    return check_selected(replace(source, selection=selection).selected(whole), whole, selection)


def check_selected(corpus: Corpus, whole: Corpus, selection: FileSelection) -> Corpus:
    """Return *corpus*; InputError if *selection* has left no document of *whole*."""
    if len(whole) and not len(corpus):
        options = " ".join(
            [
                f"--kind {selection.kind}" if selection.kind != "all" else "",
                *(f"--include {pattern}" for pattern in selection.include),
                *(f"--exclude {pattern}" for pattern in selection.exclude),
            ]
        ).strip()
        raise InputError(
            f"{options} selects none of the {len(whole):,} documents of {whole.name}; expected "
            f"options that select some, such as {whole.documents[0].path}"
        )
    return corpus


def corpus_source(path: str, *, revision: str | None = None) -> Source:
    """Return the folder at *path*, or what Git held there at *revision*.

    A folder of a work tree gives that folder of the revision, with paths from there. A bare
    repository without a revision gives HEAD, and the name of the corpus says so. Of a BEIR folder,
    the documents of its corpus.
    """
    folder = Path(path)
    if folder.is_file():
        raise InputError(f"{path} is a file; expected a folder or a repository")
    if not folder.is_dir():
        raise InputError(no_folder(path))
    if revision is None and is_bare(folder):
        revision = "HEAD"
    if revision is not None:
        with GitRepository(path) as repository:
            below = repository.folder()
        return Source.git(path, f"{revision}:{below}" if below else revision)
    if part_files(folder, "corpus") and part_files(folder, "queries"):
        return Source.beir(path)
    return Source.folder(path)


def is_bare(folder: Path) -> bool:
    """Return whether *folder* is a bare repository or a ``.git`` folder."""
    return (
        (folder / "HEAD").is_file() and (folder / "objects").is_dir() and (folder / "refs").is_dir()
    )
