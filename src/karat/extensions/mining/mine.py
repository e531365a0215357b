"""Mine one repository, and build a dataset from mined repositories."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from karat.corpus.chunkers.grammars import have_grammars
from karat.corpus.git_objects import git
from karat.errors import InputError, MissingExtra
from karat.extensions.mining.cases import CLUSTER, cases, format_time
from karat.extensions.mining.commits import UnreadableCommits
from karat.extensions.mining.drafts import Role
from karat.extensions.mining.file_counts import FileCount, count_files
from karat.extensions.mining.filters import (
    DUPLICATE,
    FilterWaterfall,
    oldest_commits,
    rule_table,
    select,
)
from karat.extensions.mining.recipe import MiningRecipe
from karat.extensions.mining.sampling import SampledCases, Sampling, sample_cases
from karat.extensions.mining.scan import SHALLOW, count_merges, scan
from karat.extensions.mining.targets import MATCHES, Grain
from karat.extensions.mining.variants import Rewriter, RewriteStatus, RewrittenQuery
from karat.installation import install_hint
from karat.model import Dataset, Query
from karat.system.files import no_folder, unique_names

if TYPE_CHECKING:
    from karat.extensions.mining.scan import ScanCache


REWRITTEN_ALIKE = "rewritten-alike"
REWRITTEN_ALIKE_WHY = "the model returned the query of another commit"

# Roles of files that are code or configuration, in the words of --kind.
CODE = frozenset({Role.SOURCE, Role.CONFIG, Role.EXAMPLE, Role.BUILD})

# Progress callback: the current step, the number done, and the total (0: unknown).
MiningProgress = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class MinedRepository:
    """The queries of the repository at *path*, and the statistics of the mining.

    *head* is the newest commit of the scan, *time* its commit time. *sources* names what queries
    were made from. *skipped_files* has the reason of each file that was not read.
    """

    path: str
    head: str
    time: int
    queries: tuple[Query, ...]
    waterfall: FilterWaterfall
    unreadable: UnreadableCommits
    sources: str = "commits"
    skipped_files: Mapping[str, str] = field(default_factory=dict)


def mine(
    repository: str,
    recipe: MiningRecipe,
    *,
    cache: "ScanCache | None" = None,
    rewriter: Rewriter | None = None,
    progress: MiningProgress | None = None,
) -> MinedRepository:
    """Return the queries of *repository*; raise InputError with the reason if none is left.

    The result depends only on the history, the recipe and, if given, the answers of *rewriter*.
    """
    report: MiningProgress = progress or (lambda *_: None)
    unreadable = UnreadableCommits()
    commits = scan(
        _folder(repository),
        branch=recipe.branch,
        since=recipe.since,
        until=recipe.until,
        max_commits=recipe.max_commits,
        unit=recipe.unit,
        include_merges=recipe.include_merges,
        cache=cache,
        progress=lambda done: report("reading history", done, 0),
        unreadable=unreadable,
    )
    newest = ("rev-list", "--no-commit-header", "--max-count=1", "--format=%H %ct", recipe.branch)
    head, time = git(repository, *newest).decode().split()
    sample = sample_cases(
        repository,
        select(commits, recipe.effective_filters),
        recipe.effective_filters,
        Sampling(recipe.limit, recipe.seed, recipe.fits, _parses(recipe, unreadable)),
        unreadable=unreadable,
        progress=lambda done, total: report("reading changes", done, total),
    )
    sample = sample._replace(
        waterfall=sample.waterfall.with_merges(_skipped_merges(repository, recipe))
    )
    if not sample.cases:
        shallow = SHALLOW in unreadable.notes
        raise InputError(f"{repository}: {_nothing(sample.waterfall, recipe, shallow=shallow)}")
    rewritten = [RewrittenQuery(case.candidate.query, RewriteStatus.RULES) for case in sample.cases]
    if rewriter:
        for done, case in enumerate(sample.cases):
            rewritten[done] = rewriter.rewrite(case.candidate)
            report("rewriting", done + 1, len(sample.cases))
        sample, rewritten = _without_duplicates(sample, rewritten, recipe)
    parents = [case.candidate.commit.parents[0] for case in sample.cases]
    counts = _counts(repository, parents, unreadable)
    queries: list[Query] = []
    for case, query in zip(sample.cases, rewritten, strict=True):
        searched = counts.get(case.candidate.commit.parents[0])
        queries.extend(cases(case, query, recipe, searched=searched))
    return MinedRepository(
        repository, head, int(time), tuple(queries), sample.waterfall, unreadable
    )


def _without_duplicates(
    sample: SampledCases, rewritten: list[RewrittenQuery], recipe: MiningRecipe
) -> tuple[SampledCases, list[RewrittenQuery]]:
    """Apply the rule ``duplicate`` again, to the queries that a model has rewritten."""
    if DUPLICATE in recipe.effective_filters.off:
        return sample, rewritten
    pairs = list(zip(sample.cases, rewritten, strict=True))
    oldest = oldest_commits((case.candidate, query.text) for case, query in pairs)
    pairs = [(case, query) for case, query in pairs if case.candidate.commit.id in oldest]
    dropped = len(sample.cases) - len(pairs)
    fall = sample.waterfall.then(REWRITTEN_ALIKE, REWRITTEN_ALIKE_WHY, dropped)
    return SampledCases([case for case, _ in pairs], fall), [query for _, query in pairs]


def _skipped_merges(repository: str, recipe: MiningRecipe) -> int:
    """Return how many merges were not read; 0 where the newest commits alone are read."""
    if recipe.unit != "commit" or recipe.include_merges or recipe.max_commits:
        return 0
    return count_merges(repository, branch=recipe.branch, since=recipe.since, until=recipe.until)


def _folder(repository: str) -> str:
    if not Path(repository).is_dir():
        raise InputError(no_folder(repository, expected="a Git repository"))
    return repository


def _parses(recipe: MiningRecipe, unreadable: UnreadableCommits) -> bool:
    """Return whether tree-sitter is installed; symbol targets cannot work without it."""
    if have_grammars():
        return True
    if recipe.grain is Grain.SYMBOL:
        raise MissingExtra("tree-sitter", extra="code", purpose="targets by symbol")
    unreadable.notes.append(
        "tree-sitter is not installed, so commits that change only comments are not dropped: "
        + install_hint("code")
    )
    return False


def _counts(
    repository: str, commits: list[str], unreadable: UnreadableCommits
) -> dict[str, FileCount]:
    try:
        return count_files(repository, commits)
    except InputError as error:
        unreadable.notes.append(f"cannot count the files of the base commits: {error}")
        return {}


def _nothing(fall: FilterWaterfall, recipe: MiningRecipe, *, shallow: bool) -> str:
    """Return why no case is left, and how to change that."""
    if not fall.total:
        return {
            "commit": "no commits to mine; check --since, --until and --branch",
            "pr": "no merges on the first-parent line; use --unit commit to mine single commits",
        }[recipe.unit]
    worst = max(fall.steps, key=lambda step: step.dropped)
    said = f"none of {fall.total} commits is usable; rule {worst.rule!r} dropped {worst.dropped}"
    if shallow:
        return f"{said}: {worst.why}; {SHALLOW}"
    hint = f"--off {worst.rule}" if worst.rule in rule_table() else ""
    return f"{said}: {worst.why}" + (f"; {hint} turns the rule off" if hint else "")


def build_dataset(mined: Sequence[MinedRepository], recipe: MiningRecipe, *, tool: str) -> Dataset:
    """Return the cases of all repositories; with several, the ids contain the repository name.

    Nothing depends on the current time: ``generated_at`` is the time of the newest commit, so the
    same history and recipe give the same bytes.
    """
    names = unique_names([one.path for one in mined])
    queries = [
        query if len(mined) == 1 else _named(query, name, one.path)
        for name, one in zip(names, mined, strict=True)
        for query in one.queries
    ]
    metadata = {
        "repository": ", ".join(one.path for one in mined),
        "generated_at": format_time(max(one.time for one in mined)),
        "total_commits_analyzed": sum(one.waterfall.total for one in mined),
        "test_cases_generated": len(queries),
        "tool": tool,
        **_as_metadata(recipe),
        "repositories": [_as_record(one, name) for name, one in zip(names, mined, strict=True)],
    }
    match = MATCHES[recipe.grain]
    return Dataset.of(queries, name=" + ".join(names), match=match, metadata=metadata)


def _named(query: Query, name: str, path: str) -> Query:
    """Return *query* with its repository's name in the id and tags, and its repository's path."""
    return query._replace(
        id=f"{name}-{query.id}",
        tags={**query.tags, "repository": name},
        extra={**query.extra, "repository": path},
    )


def _as_metadata(recipe: MiningRecipe) -> dict[str, object]:
    filters = recipe.effective_filters
    return {
        **({"cluster": CLUSTER} if recipe.has_variants else {}),
        "level": recipe.grain.value,
        "hardness": [level.value for level in recipe.hardness],
        "adversarial": recipe.adversarial,
        "candidates": "production" if filters.roles == [Role.SOURCE] else "all",
        **({"kind": "code"} if CODE.issuperset(filters.roles) else {}),
        "unit": recipe.unit,
        "branch": recipe.branch,
        "since": recipe.since,
        "until": recipe.until,
        "max_commits": recipe.max_commits,
        "limit": recipe.limit,
        "seed": recipe.seed,
        "filters": {
            **filters.limits._asdict(),
            "off": sorted(filters.off),
            "exclude_patterns": list(filters.exclude),
        },
    }


def _as_record(mined: MinedRepository, name: str) -> dict[str, object]:
    fall, unreadable = mined.waterfall, mined.unreadable
    return {
        "name": name,
        "path": mined.path,
        "head": mined.head,
        "commits": fall.total,
        "cases": fall.kept,
        "waterfall": {step.rule: step.dropped for step in fall.steps},
        "skipped_files": dict(unreadable.skipped),
        "unreadable_commits": [commit for commit, _ in unreadable.unreadable],
        "notes": unreadable.notes,
    }
