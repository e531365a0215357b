"""The snapshot that each query of a gold set is searched on: before its change, or another."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import NamedTuple

from karat.corpus import Corpus, FileSelection, GitRepository, common_kind
from karat.corpus.files.selection import declared_kind
from karat.corpus.git import current_repository, in_order, object_ids
from karat.corpus.snapshot import masks_from
from karat.errors import InputError
from karat.experiments.workers.plan import SnapshotQueries
from karat.experiments.workers.sources import EVERYTHING, Opener, Source, corpus_source
from karat.model import Dataset
from karat.model.dataset import MASKS
from karat.model.frozen import EMPTY
from karat.system.words import first_few, join_names

TAG = "repository"
# Where cases are looked up if neither the user nor the set names a revision.
HEAD = "HEAD"
NOWHERE_ELSE: Mapping[str, str] = EMPTY


class Repository(NamedTuple):
    """A repository: its *name* in the gold set ("" where there is only one) and its folder.

    Cases that name no commit are searched at *revision*; only files below *root* are searched.
    """

    name: str
    folder: str
    revision: str = ""
    root: str = ""


def check_names(gold: Dataset, moved: Mapping[str, str]) -> None:
    """Raise InputError if *moved* has a name that is not the name of a repository of *gold*."""
    names = {*gold.tags.get(TAG, ()), *_declared(gold)} - {""}
    unknown = sorted(moved.keys() - names - {""})
    if unknown:
        known = ", ".join(sorted(names)) or "none"
        raise InputError(f"{gold.name}: no repository {unknown[0]!r}; it has {known}")


def homes(
    gold: Dataset, moved: Mapping[str, str] = NOWHERE_ELSE, *, otherwise: str = ""
) -> dict[Repository, list[int]]:
    """Return the rows of *gold* by their repository, in the order of the set.

    *moved* has the folders of repositories by name; that of "" is for all others. Without one, the
    folder is what the case says (``extra.repository``), or the set (``metadata.repositories`` by
    name, ``metadata.repository``), or *otherwise*. If that folder does not exist, the repository of
    the current folder is taken if it has the commits of the cases; otherwise InputError is raised.
    """
    check_names(gold, moved)
    recorded = _recorded(gold, moved)
    here = _current_repositories(gold, recorded)
    folders = {home: here.get(home.name, home.folder) or otherwise for home in recorded}
    rows_of: dict[Repository, list[int]] = {}
    for home, rows in recorded.items():
        rows_of.setdefault(home._replace(folder=folders[home]), []).extend(rows)
    _check_folders(gold, rows_of, moved)
    return rows_of


def local_repositories(gold: Dataset, moved: Mapping[str, str] = NOWHERE_ELSE) -> dict[str, str]:
    """Return the folders of repositories of *gold* that are found by their commits, by name.

    A repository is looked for in the current folder if *moved* does not name it and the recorded
    folder does not exist.
    """
    check_names(gold, moved)
    return _current_repositories(gold, _recorded(gold, moved))


def clones(gold: Dataset, folder: str) -> dict[str, str]:
    """Return the folders of the repositories of *gold* that have a clone in *folder*, by name.

    The clone of ``owner__name`` is the first of these: ``owner__name``, ``owner/name``,
    ``owner-name`` and ``name``, with ``.git`` if it is a bare one. A repository without a name is
    looked for under the name of its recorded folder.
    """
    folders = {}
    for home in _recorded(gold, NOWHERE_ELSE):
        name = home.name or Path(home.folder).name
        owner, _, last = name.rpartition("__")
        spellings = [name, f"{owner}/{last}", f"{owner}-{last}", last] if owner else [name]
        candidates = [Path(folder, f"{each}{end}") for each in spellings for end in ("", ".git")]
        if name and (clone := next(filter(Path.is_dir, candidates), None)):
            folders[home.name] = str(clone)
    return folders


def given_part(gold: Dataset, moved: Mapping[str, str]) -> tuple[Dataset, dict[str, int]]:
    """Return the cases of *gold* whose repository is there, and the names of the others.

    Each name has the number of its cases. *moved* is that of :func:`homes`. InputError is raised
    if no repository is there.
    """
    check_names(gold, moved)
    rows_of = _recorded(gold, moved)
    here = _current_repositories(gold, rows_of)
    present: list[int] = []
    lacking: Counter[str] = Counter()
    for home, rows in rows_of.items():
        if home.name in here or (home.folder and Path(home.folder).is_dir()):
            present += rows
        else:
            lacking[home.name or home.folder or gold.name] += len(rows)
    if not present:
        raise InputError(
            f"no repository of {gold.name} is here: {join_names(first_few(sorted(lacking)))}; give "
            "one with --repo NAME=DIR, or a folder of clones with --repos"
        )
    return part_of(gold, sorted(present)), dict(lacking)


def _recorded(gold: Dataset, moved: Mapping[str, str]) -> dict[Repository, list[int]]:
    """Return the rows by repository, at the folder that *moved* or the set has; "" without one."""
    declared = _declared(gold)
    names = gold.tags.get(TAG, ("",) * len(gold))
    rows_of: dict[Repository, list[int]] = {}
    for row, name in enumerate(names):
        home = _home(gold, name, gold.extras[row], declared)
        given = moved.get(name) or moved.get("")
        rows_of.setdefault(home._replace(folder=given or home.folder), []).append(row)
    return rows_of


def _current_repositories(
    gold: Dataset, rows_of: Mapping[Repository, Sequence[int]]
) -> dict[str, str]:
    """Return, by name, the current repository for those without a folder whose commits it has.

    *rows_of* are the repositories as they are recorded.
    """
    commits_of = {
        home.name: commits
        for home, rows in rows_of.items()
        if not (home.folder and Path(home.folder).is_dir())
        and (commits := {_commit(gold.extras[row]) for row in rows} - {""})
    }
    here = current_repository() if commits_of else ""
    return {
        name: here
        for name, commits in commits_of.items()
        if here and all(object_ids(here, sorted(commits), "commit"))
    }


def _commit(extra: Mapping[str, object]) -> str:
    return str(extra.get("base_commit") or extra.get("commit_hash") or "")


def part_of(gold: Dataset, rows: list[int]) -> Dataset:
    """Return *gold* with the queries at *rows* alone."""
    if len(rows) == len(gold):
        return gold
    queries = list(gold.queries())
    selected = [queries[row] for row in rows]
    return gold.with_queries(selected)


def _declared(gold: Dataset) -> dict[str, Mapping[str, object]]:
    """Return what the metadata say about each repository, by its name."""
    listed = gold.metadata.get("repositories")
    entries = listed if isinstance(listed, list | tuple) else ()
    return {str(entry.get("name") or ""): entry for entry in entries if isinstance(entry, Mapping)}


def _home(
    gold: Dataset,
    name: str,
    extra: Mapping[str, object],
    declared: Mapping[str, Mapping[str, object]],
) -> Repository:
    entry: Mapping[str, object] = declared.get(name, {})
    if not name and len(declared) == 1:
        (entry,) = declared.values()
    several = len(declared) > 1
    folders = (extra.get("repository"), entry.get("path"), gold.metadata.get("repository"))
    # The last names all repositories of a set that was mined from several.
    named = (
        folder for folder in folders[: 2 if several else 3] if folder and isinstance(folder, str)
    )
    revision, root = (str(entry.get(key) or "") for key in ("revision", "root"))
    return Repository(name, next(named, ""), revision, root)


def _check_folders(
    gold: Dataset, rows_of: Mapping[Repository, list[int]], moved: Mapping[str, str]
) -> None:
    given = set(moved.values())
    missing = [
        home
        for home in rows_of
        if home.folder and home.folder not in given and not Path(home.folder).is_dir()
    ]
    if missing:
        folders = ", ".join(home.folder for home in missing)
        options = " ".join(f"--repo {home.name}=DIR" for home in missing if home.name) or "--repo"
        verb, it = ("do", "them") if len(missing) > 1 else ("does", "it")
        raise InputError(
            f"{gold.name} was mined from {folders}, which {verb} not exist here, and the current "
            f"folder does not have its commits; name {it} ({options})"
        )


SNAPSHOTS = ("parent", "base", "head", "child")
CANDIDATES = ("production", "all")


class SelectedFiles(NamedTuple):
    """The files to search; *kind_from* says what chose their kind: ``option`` or ``dataset``.

    It is "" where nothing has chosen a kind, so that all kinds are searched.
    """

    selection: FileSelection
    kind_from: str = ""


EVERY_FILE = SelectedFiles(EVERYTHING)


def selected_files(
    gold: Dataset, kind: str | None, include: Sequence[str] = (), exclude: Sequence[str] = ()
) -> SelectedFiles:
    """Return the files to search; without a *kind*, that which *gold* declares, else all.

    Targets never choose it: one target of another kind would change the scores of all queries.

    >>> gold = Dataset.of([], metadata={"kind": "docs"})
    >>> selected_files(gold, None).selection.kind, selected_files(gold, "all").selection.kind
    ('docs', 'all')
    """
    declared = declared_kind(gold.metadata)
    selection = FileSelection(kind or declared or "all", tuple(include), tuple(exclude))
    return SelectedFiles(selection, "option" if kind else "dataset" if declared else "")


def suggested_kind(gold: Dataset) -> str:
    """Return the kind that all relevant targets of *gold* have, "" if they differ.

    >>> from karat.model import Query, Target
    >>> suggested_kind(Dataset.of([Query("q", "log in", (Target("docs/login.md"),))]))
    'docs'
    """
    targets = (target for query in gold.queries() for target in query.targets)
    kind = common_kind({t.path for t in targets if t.grade > 0 and t.path and t.ref == "path"})
    return "" if kind == "all" else kind


class OpenSnapshot(NamedTuple):
    """A snapshot that is open in this process, and the queries to run on it.

    *whole* is the corpus before candidates were selected.
    """

    corpus: Corpus
    queries: SnapshotQueries
    whole: Corpus


class RepositoryRevisions(NamedTuple):
    """The revisions of one repository, and the rows of the gold set that belong to each.

    Only documents below the folder *root* are searched, if there is one.
    """

    corpora: Callable[[], Iterable[tuple[str, Corpus]]]
    rows: Mapping[str, Sequence[int]]
    source: Callable[[str], Source]
    root: str = ""


@dataclass(frozen=True, slots=True)
class Snapshots:
    """The snapshots of one evaluation; each iteration opens all of them again.

    Ancestors come before descendants, so that neighbours differ little; *seed* shuffles the queries
    on each snapshot. The fields are those of :class:`karat.model.coverage.CorpusCoverage`.
    *kind_from* says what chose the kind of *selection*, see :class:`SelectedFiles`. *masks* hide
    lines of documents, see :mod:`karat.corpus.snapshot`.
    """

    snapshot: str
    place: str
    candidates: str
    parts: tuple[RepositoryRevisions, ...]
    seed: int = 0
    revision: str = ""
    selection: FileSelection = EVERYTHING
    kind_from: str = ""
    masks: Mapping[str, object] = EMPTY

    def __post_init__(self) -> None:
        """Reject an unknown set of candidates or files."""
        self.selection.check()
        if self.candidates not in CANDIDATES:
            known = ", ".join(CANDIDATES)
            raise InputError(
                f"candidates {self.candidates!r} is not valid; expected one of: {known}"
            )

    def __iter__(self) -> Iterator[OpenSnapshot]:
        for part in self.parts:
            for revision, corpus in part.corpora():
                rows = list(part.rows[revision])
                Random(f"{self.seed} {revision}").shuffle(rows)
                source = replace(
                    part.source(revision),
                    tests=self.candidates == "all",
                    root=part.root,
                    selection=self.selection,
                    masks=self.masks,
                )
                whole = corpus.below(part.root)
                queries = SnapshotQueries(source, tuple(rows))
                yield OpenSnapshot(source.selected(whole), queries, whole)


@contextmanager
def history_snapshots(
    gold: Dataset,
    repositories: Mapping[str, str] = NOWHERE_ELSE,
    *,
    snapshot: str = "parent",
    candidates: str | None = None,
    selected: SelectedFiles = EVERY_FILE,
    seed: int = 0,
) -> Iterator[Snapshots]:
    """Open the snapshots of a mined gold set, in the repositories that it was mined from.

    *repositories* are the folders of repositories that have moved, by name; an empty name is for
    all. ``parent`` is the snapshot before the change of each case and ``child`` the one after it,
    which contains the change. ``base`` is one snapshot before all changes: the first of the parents
    in the order of history. ``head`` is HEAD for all. A carried gold set is searched at the commit
    that it was carried to, for ``parent`` and ``base`` alike, and for ``head`` if that is HEAD.
    Without *candidates*, those of the gold set are taken.
    """
    if snapshot not in SNAPSHOTS:
        raise InputError(
            f"snapshot {snapshot!r} is not valid; expected one of: {', '.join(SNAPSHOTS)}"
        )
    carried = carried_to(gold)
    if carried and snapshot == "child":
        commit = carried if " " in carried else carried[:12]
        raise InputError(
            f"{gold.name} was updated to {commit} (karat carry), so its changes are not the next "
            "commits; remove --snapshot child, or use the gold set as it was mined"
        )
    rows_of = known_homes(gold, repositories)
    if len({home.name for home in rows_of}) > 1 and len({home.folder for home in rows_of}) == 1:
        _check_commits(gold, rows_of)
    if carried and snapshot == "head" and _are_at_head(gold, rows_of):
        snapshot = SNAPSHOTS[0]
    with ExitStack() as stack:
        parts = []
        for home, rows in rows_of.items():
            opened = stack.enter_context(GitRepository(home.folder))
            searched = _revisions(gold, rows, snapshot, opened.path, home.revision)
            source = partial(Source.git, home.folder)
            parts.append(
                RepositoryRevisions(partial(_walk, opened, searched), searched, source, home.root)
            )
        chosen = candidates or str(gold.metadata.get("candidates") or CANDIDATES[0])
        if carried and snapshot != "head":
            snapshot = "carried"
        elif snapshot == SNAPSHOTS[0] and gold.metadata.get("generated_from"):
            snapshot = "masked" if gold.metadata.get(MASKS) else "generated"
        folders = dict.fromkeys(home.folder for home in rows_of)
        files, kind_from = selected
        yield Snapshots(
            snapshot,
            ", ".join(folders),
            chosen,
            tuple(parts),
            seed,
            carried,
            files,
            kind_from,
            dataset_masks(gold),
        )


def _walk(repository: GitRepository, revisions: Iterable[str]) -> Iterator[tuple[str, Corpus]]:
    """Yield the snapshots of *repository*; after the last one, nothing of it stays in memory."""
    try:
        yield from repository.snapshots(revisions)
    finally:
        repository.release()


def corpus_snapshots(
    gold: Dataset,
    path: str,
    *,
    revision: str | None = None,
    candidates: str | None = None,
    selected: SelectedFiles = EVERY_FILE,
    seed: int = 0,
) -> Snapshots:
    """Return one snapshot for all queries: the folder at *path*, or its *revision* in Git.

    Without *candidates*, those of a gold set that was generated from this corpus, else all.
    """
    source = corpus_source(path, revision=revision)
    corpus = Opener().open(source)
    name = revision or ""
    part = RepositoryRevisions(lambda: [(name, corpus)], {name: range(len(gold))}, lambda _: source)
    files, kind_from = selected
    chosen = candidates or corpus_candidates(gold)
    masks = dataset_masks(gold)
    return Snapshots("corpus", path, chosen, (part,), seed, "", files, kind_from, masks)


def corpus_candidates(gold: Dataset) -> str:
    """Return the candidates on one corpus: those of a set that was generated from it, else all."""
    if not gold.metadata.get("generated_from"):
        return "all"
    return str(gold.metadata.get("candidates") or "all")


def dataset_masks(gold: Dataset) -> Mapping[str, object]:
    """Return the masks in the metadata of *gold*, checked, as JSON; empty for most gold sets."""
    masks = gold.metadata.get(MASKS)
    masks_from(masks, name=gold.name)
    return dict(masks) if isinstance(masks, Mapping) else {}


def carried_to(gold: Dataset) -> str:
    """Return the commit that *gold* was carried to, "" if it was not; of several, with names."""
    commits = gold.metadata.get("carried_to") or ""
    if isinstance(commits, Mapping):
        return ", ".join(f"{name} {str(commit)[:12]}" for name, commit in commits.items())
    return str(commits)


def known_homes(
    gold: Dataset, moved: Mapping[str, str], *, source: str = ""
) -> dict[Repository, list[int]]:
    """Return :func:`homes`; an unknown one raises InputError with the *source* of the gold set."""
    rows_of = homes(gold, moved)
    lacking = [home.name for home in rows_of if not home.folder]
    if lacking:
        named = " ".join(f"--repo {name}=DIR" for name in lacking if name)
        several = f"{named}, a clone in the folder of --repos" if named else "--repo"
        skip = "; --only-given runs the cases whose repository is there" if named else ""
        raise InputError(
            f"{source or gold.name} does not say where its repository is; give it with {several}, "
            f"or the documents to search with --corpus{skip}"
        )
    return rows_of


def _check_commits(gold: Dataset, rows_of: Mapping[Repository, Sequence[int]]) -> None:
    """Raise InputError if one folder is given for several repositories and is not all of them."""
    for home, rows in rows_of.items():
        first = str(gold.extras[rows[0]].get("base_commit") or "")
        if first and not object_ids(home.folder, [first], "commit")[0]:
            options = " ".join(f"--repo {home.name}=DIR" for home in rows_of)
            raise InputError(
                f"{home.folder} has no commit {first[:12]} of the repository {home.name!r}; "
                f"{gold.name} has several repositories: {options}"
            )


def _are_at_head(gold: Dataset, rows_of: Mapping[Repository, Sequence[int]]) -> bool:
    """Return whether HEAD is the base commit of all cases, in each of their repositories."""
    for home, rows in rows_of.items():
        bases = {str(gold.extras[row].get("base_commit")) for row in rows}
        if bases != set(object_ids(home.folder, ["HEAD"], "commit")):
            return False
    return True


def _revisions(
    gold: Dataset, rows: Sequence[int], snapshot: str, repository: str, revision: str
) -> dict[str, Sequence[int]]:
    """Return *rows* by the revision that they are searched on, *revision* if they name none."""
    if snapshot == "head":
        return {"HEAD": rows}
    rows_of: dict[str, list[int]] = {}
    for row in rows:
        name = _child(gold, row) if snapshot == "child" else _parent(gold, row, revision)
        rows_of.setdefault(name, []).append(row)
    if snapshot == "base":
        return {in_order(repository, rows_of)[0].commit: rows}
    return dict(rows_of)


def _parent(gold: Dataset, row: int, revision: str) -> str:
    extra = gold.extras[row]
    base = extra.get("base_commit")
    if isinstance(base, str) and base:
        return base
    return revision if revision and not extra.get("commit_hash") else f"{_child(gold, row)}^"


def _child(gold: Dataset, row: int) -> str:
    commit = gold.extras[row].get("commit_hash")
    if isinstance(commit, str) and commit:
        return commit
    raise InputError(
        f"{gold.name}: case {gold.query_ids[row]!r} has no commit; expected a gold set mined "
        "from Git, or the documents to search (--corpus)"
    )
