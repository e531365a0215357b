"""One case of a gold set: what was asked, what changed, and the code that should be found."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import NamedTuple

from karat.corpus.chunkers.base import lines_of
from karat.corpus.git import object_ids
from karat.corpus.git_objects import git
from karat.errors import InputError, UnknownName
from karat.experiments.commit_snapshots import CommitSnapshot, SnapshotReader
from karat.experiments.snapshots import NOWHERE_ELSE, TAG, Repository, check_names, homes
from karat.model import Dataset, Query, Target
from karat.scoring.matching.modes import normalise

_AROUND = 2


class Excerpt(NamedTuple):
    """The lines of a target before the change with some around them, the first one's number.

    *problem* says why there are none; a target that is a whole file has none either.
    """

    target: Target
    first_line: int = 0
    lines: Sequence[str] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class CaseDetails:
    """A case, with what its repository says about it.

    *message* and *diff* are those of its commit, the diff of its files alone. Where there is no
    repository, *problem* says so and they are empty.
    """

    query: Query
    message: str
    diff: str
    excerpts: tuple[Excerpt, ...]
    problem: str = ""


def find_case(dataset: Dataset, name: str) -> Query:
    """Return the case whose id is *name*, or the only one whose id begins with it."""
    rows = [row for row, query_id in enumerate(dataset.query_ids) if query_id == name]
    rows = rows or [
        row for row, query_id in enumerate(dataset.query_ids) if query_id.startswith(name)
    ]
    if len(rows) == 1:
        return list(dataset.queries())[rows[0]]
    offered = [dataset.query_ids[row] for row in rows[:3]]
    near = offered or get_close_matches(name, dataset.query_ids, n=1)
    hint = (
        f"did you mean {' or '.join(map(repr, near))}?" if near else "karat inspect lists all ids"
    )
    what = f"{len(rows)} ids begin with" if rows else "no case"
    raise UnknownName(f"{what} {name!r} in {dataset.name}; {hint}")


def inspect_case(
    dataset: Dataset, query: Query, *, repositories: Mapping[str, str] = NOWHERE_ELSE
) -> CaseDetails:
    """Return *query* with what its repository says: where it was mined, or one of *repositories*.

    These are folders by the names of repositories, "" for all others.
    """
    bare = CaseDetails(query, "", "", tuple(map(Excerpt, query.targets)))
    names = [str(query.extra.get(key) or "") for key in ("base_commit", "commit_hash")]
    # A case that was made from a text has the version that is searched, and no change.
    if not names[1] and dataset.metadata.get("generated_from"):
        names = names[:1]
    if not all(names):
        return replace(bare, problem="the case has no commit")
    check_names(dataset, repositories)
    try:
        home = _home_of(dataset, query, repositories)
    except InputError as error:
        return replace(bare, problem=str(error))
    if not home:
        problem = f"{dataset.name} does not name its repository; give it with --repo"
        return replace(bare, problem=problem)
    repository = home.folder
    # Ids from here on: a name in a file might be an option to Git.
    commits = object_ids(repository, names, "commit")
    if not all(commits):
        lacking = names[commits.index("")]
        return replace(
            bare,
            problem=f"{repository} has no commit {lacking!r}; give another repository with --repo",
        )
    base, *changes = commits
    with SnapshotReader(repository) as trees:
        tree = trees.at(base)
        excerpts = tuple(_excerpt(tree, target) for target in query.targets)
    if not changes:
        return replace(bare, excerpts=excerpts)
    (commit,) = changes
    message = _text(git(repository, "show", "-s", "--format=%B", commit)).strip()
    options = ("--no-color", "--no-ext-diff", "--no-textconv", "-M")
    asked = ("--literal-pathspecs", "diff", *options, base, commit, "--", *_paths(query))
    return CaseDetails(query, message, _text(git(repository, *asked)).rstrip(), excerpts)


def _paths(query: Query) -> Iterator[str]:
    """Yield the paths of the targets, before the change and after it."""
    yield from dict.fromkeys(target.path for target in query.targets if target.path)
    files = query.extra.get("files")
    for file in files if isinstance(files, list) else ():
        if isinstance(file, Mapping) and file.get("new_path"):
            yield str(file["new_path"])


def _text(printed: bytes) -> str:
    return printed.decode(errors="replace")


def _excerpt(tree: CommitSnapshot, target: Target) -> Excerpt:
    path = normalise(target.path)
    if path not in tree.entries:
        return Excerpt(target, problem=f"does not exist at {tree.short}")
    if not target.end_line:
        return Excerpt(target)
    content = tree.content(path)
    first = max(target.start_line - _AROUND, 1)
    lines = lines_of(content.text)[first - 1 : target.end_line + _AROUND]
    return Excerpt(target, first, [line.rstrip("\n") for line in lines], content.reason)


def _home_of(
    gold: Dataset, query: Query, moved: Mapping[str, str] = NOWHERE_ELSE
) -> Repository | None:
    """Return the repository of *query*, a case of *gold*, None without one."""
    check_names(gold, moved)
    alone = gold.with_queries([query])
    own = {name: folder for name, folder in moved.items() if name in ("", query.tags.get(TAG))}
    (home,) = homes(alone, own)
    return home if home.folder else None
