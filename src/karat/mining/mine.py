"""Mine one repository: scan its history, filter the commits, sample cases, build queries."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from karat.corpus.chunkers.grammars import have_grammars
from karat.corpus.git.process import git
from karat.errors import InputError, MissingExtra
from karat.installation import install_hint
from karat.mining.cases import cases
from karat.mining.commits import UnreadableCommits
from karat.mining.drawing import Drawing, SampledCases, draw
from karat.mining.filters import DUPLICATE, FilterWaterfall, oldest, rule_table, select
from karat.mining.recipe import MiningRecipe
from karat.mining.rewriting import Rewriter, RewriteStatus, RewrittenQuery
from karat.mining.scan import scan
from karat.mining.targets import Grain
from karat.mining.trees import TreeCount, tree_counts
from karat.model import Query

if TYPE_CHECKING:
    from karat.mining.scan_cache import ScanCache


__all__ = ["MinedRepository", "Watch", "mine"]


REWRITTEN_ALIKE = "rewritten-alike"
REWRITTEN_ALIKE_WHY = "the model returned the query of another commit"

# Progress callback: the current step, the number done, and the total (0: unknown).
Watch = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class MinedRepository:
    """The queries of the repository at *path*, and the statistics of the mining.

    *head* is the newest commit of the scan, *time* its commit time.
    """

    path: str
    head: str
    time: int
    queries: tuple[Query, ...]
    waterfall: FilterWaterfall
    losses: UnreadableCommits


def mine(
    repository: str,
    recipe: MiningRecipe,
    *,
    cache: "ScanCache | None" = None,
    rewriter: Rewriter | None = None,
    watch: Watch | None = None,
) -> MinedRepository:
    """Return the queries of *repository*; raise InputError with the reason if none is left.

    The result depends only on the history, the recipe and, if given, the answers of *rewriter*.
    """
    tell: Watch = watch or (lambda *_: None)
    losses = UnreadableCommits()
    commits = scan(
        _folder(repository),
        branch=recipe.branch,
        since=recipe.since,
        until=recipe.until,
        max_commits=recipe.max_commits,
        unit=recipe.unit,
        include_merges=recipe.include_merges,
        cache=cache,
        progress=lambda done: tell("reading history", done, 0),
        losses=losses,
    )
    newest = ("rev-list", "--no-commit-header", "--max-count=1", "--format=%H %ct", recipe.branch)
    head, time = git(repository, *newest).decode().split()
    drawn = draw(
        repository,
        select(commits, recipe.asked),
        recipe.asked,
        Drawing(recipe.limit, recipe.seed, recipe.fits, _parses(recipe, losses)),
        losses=losses,
        progress=lambda done, total: tell("reading changes", done, total),
    )
    if not drawn.found:
        raise InputError(f"{repository}: {_nothing(drawn.waterfall, recipe)}")
    asked = [RewrittenQuery(found.candidate.query, RewriteStatus.RULES) for found in drawn.found]
    if rewriter:
        for done, found in enumerate(drawn.found):
            asked[done] = rewriter.rewrite(found.candidate)
            tell("rewriting", done + 1, len(drawn.found))
        drawn, asked = _without_duplicates(drawn, asked, recipe)
    parents = [found.candidate.commit.parents[0] for found in drawn.found]
    counts = _counts(repository, parents, losses)
    queries: list[Query] = []
    for found, query in zip(drawn.found, asked, strict=True):
        searched = counts.get(found.candidate.commit.parents[0])
        queries.extend(cases(found, query, recipe, searched=searched))
    return MinedRepository(repository, head, int(time), tuple(queries), drawn.waterfall, losses)


def _without_duplicates(
    drawn: SampledCases, asked: list[RewrittenQuery], recipe: MiningRecipe
) -> tuple[SampledCases, list[RewrittenQuery]]:
    """Apply the rule ``duplicate`` again, to the queries that a model has rewritten."""
    if DUPLICATE in recipe.asked.off:
        return drawn, asked
    pairs = list(zip(drawn.found, asked, strict=True))
    kept = oldest((found.candidate, query.text) for found, query in pairs)
    pairs = [(found, query) for found, query in pairs if found.candidate.commit.id in kept]
    dropped = len(drawn.found) - len(pairs)
    fall = drawn.waterfall.then(REWRITTEN_ALIKE, REWRITTEN_ALIKE_WHY, dropped)
    return SampledCases([found for found, _ in pairs], fall), [query for _, query in pairs]


def _folder(repository: str) -> str:
    if not Path(repository).is_dir():
        raise InputError(f"{repository}: no such folder; expected a Git repository")
    return repository


def _parses(recipe: MiningRecipe, losses: UnreadableCommits) -> bool:
    """Return whether tree-sitter is installed; symbol targets cannot work without it."""
    if have_grammars():
        return True
    if recipe.grain is Grain.SYMBOL:
        raise MissingExtra("tree-sitter", extra="code", purpose="targets by symbol")
    losses.notes.append(
        "tree-sitter is not installed, so commits that change only comments are not dropped: "
        + install_hint("code")
    )
    return False


def _counts(repository: str, commits: list[str], losses: UnreadableCommits) -> dict[str, TreeCount]:
    try:
        return tree_counts(repository, commits)
    except InputError as error:
        losses.notes.append(f"cannot count the files of the base commits: {error}")
        return {}


def _nothing(fall: FilterWaterfall, recipe: MiningRecipe) -> str:
    """Return why no case is left, and how to change that."""
    if not fall.total:
        return {
            "commit": "no commits to mine; check --since, --until and --branch",
            "pr": "no merges on the first-parent line; use --unit commit to mine single commits",
        }[recipe.unit]
    worst = max(fall.steps, key=lambda step: step.dropped)
    said = f"none of {fall.total} commits is usable; rule {worst.rule!r} dropped {worst.dropped}"
    hint = f"--off {worst.rule}" if worst.rule in rule_table() else ""
    return f"{said}: {worst.why}" + (f"; {hint} turns the rule off" if hint else "")
