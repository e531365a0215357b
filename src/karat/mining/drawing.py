"""Some of the candidates with their truth; those that prove to be no cases are replaced."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from karat.mining.candidates import Candidate
from karat.mining.commits import Change, Commit
from karat.mining.filters import CODE_EQUAL, Filters, Selection, rule_table
from karat.mining.losses import Losses
from karat.mining.sampling import Sampler
from karat.mining.truth import FileTruth, truth
from karat.mining.waterfall import Waterfall

__all__ = ["NOT_DRAWN", "Drawing", "Drawn", "Found", "draw"]

# What can befall a candidate here besides the rules of the table, none of which can be turned off.
NOT_DRAWN, TOO_HARD, UNREADABLE = "not-drawn", "too-hard", "unreadable"
_WHY = {
    NOT_DRAWN: "left out by --limit",
    TOO_HARD: "at the hardness asked for too few words are left",
    UNREADABLE: "too few of its files can be read as text",
}
# Half of what the shortest command line holds, that of Windows; each path has some words around it.
_LONGEST = 16_000


class Found(NamedTuple):
    """A case: a question, and the files before the commit that answer it."""

    candidate: Candidate
    files: tuple[FileTruth, ...]


class Drawing(NamedTuple):
    """How many cases are wanted (0: all there are), and what decides which.

    A candidate that does not *fit* is replaced. Without *syntax* nothing is parsed.
    """

    limit: int
    seed: int
    fits: Callable[[Candidate], bool]
    syntax: bool = True


class Drawn(NamedTuple):
    """Cases in the order of the history, and the waterfall down to them."""

    found: list[Found]
    waterfall: Waterfall


def draw(
    repository: str,
    selection: Selection,
    filters: Filters,
    drawing: Drawing,
    *,
    losses: Losses,
    progress: Callable[[int, int], None] | None = None,
) -> Drawn:
    """Return as many cases as *drawing* asks for, where *selection* has so many.

    Files whose code is the same before and after are no answer; what is left must still be as many
    files as *filters* ask for. *progress* is told how many cases are found, of how many;
    where there are fewer, it ends as if there were enough.
    """
    sampler = Sampler(selection.candidates, drawing.seed)
    wanted = min(drawing.limit or len(sampler), len(sampler))
    dropped = Counter({NOT_DRAWN: 0, TOO_HARD: 0, UNREADABLE: 0, CODE_EQUAL: 0})
    found: dict[str, Found] = {}
    while some := sampler.take(wanted - len(found)):
        fitting = [candidate for candidate in some if drawing.fits(candidate)]
        dropped[TOO_HARD] += len(some) - len(fitting)
        examined = _examined(repository, fitting, filters, syntax=drawing.syntax, losses=losses)
        for case, reason in examined:
            if reason:
                dropped[reason] += 1
            else:
                found[case.candidate.commit.id] = case
                if progress:
                    progress(len(found), wanted)
    if progress and len(found) < wanted:
        progress(wanted, wanted)
    dropped[NOT_DRAWN] = len(sampler)
    fall = selection.waterfall
    for rule, why in {**_WHY, CODE_EQUAL: rule_table()[CODE_EQUAL]}.items():
        fall = fall.then(rule, why, dropped[rule])
    ordered = (found.get(candidate.commit.id) for candidate in selection.candidates)
    return Drawn([case for case in ordered if case], fall)


def _examined(
    repository: str,
    candidates: Sequence[Candidate],
    filters: Filters,
    *,
    syntax: bool,
    losses: Losses,
) -> Iterator[tuple[Found, str]]:
    """Yield each of *candidates* with its truth, and why it is no case ("" if it is one)."""
    least = max(filters.limits.min_files, 1)
    waiting = {candidate.commit.id: candidate for candidate in candidates}
    paths = {path for candidate in candidates for path in candidate.paths}
    for commit, known in truth(
        repository,
        list(waiting),
        wanted=paths.__contains__,
        paths=_compared(candidates),
        syntax=syntax,
        losses=losses,
    ):
        candidate = waiting.pop(commit)
        files = tuple(file for file in known if file.path in candidate.paths)
        altered = files
        if CODE_EQUAL not in filters.off:
            altered = tuple(file for file in files if not file.same_code)
        reason = UNREADABLE if len(files) < least else CODE_EQUAL if len(altered) < least else ""
        yield Found(candidate, altered), reason
    for candidate in waiting.values():
        yield Found(candidate, ()), UNREADABLE


def _compared(candidates: Sequence[Candidate]) -> set[str]:
    """Return the paths that tell the truth about *candidates*; none where all are to be compared.

    Which file was renamed to which is told by everything that its commit deletes and adds.
    """
    paths = {
        path
        for candidate in candidates
        for change in (*candidate.targets, *_moves(candidate.commit))
        for path in (change.old_path, change.path)
    }
    # Other letters may be spelled anew on the way to Git.
    handed_over = sum(map(len, paths)) <= _LONGEST and all(map(str.isascii, paths))
    return paths if handed_over else set()


def _moves(commit: Commit) -> list[Change]:
    """Return the files that *commit* deletes or adds, none where nothing can have been renamed."""
    moved = [change for change in commit.changes if change.status in "ADR"]
    return moved if any(change.status != "A" for change in moved) else []
