"""Build a dataset from mined repositories, with the metadata that make it reproducible."""

from collections.abc import Sequence
from pathlib import Path

from karat.errors import InputError
from karat.mining.cases import CLUSTER, format_time
from karat.mining.drafts import Role
from karat.mining.mine import MinedRepository
from karat.mining.recipe import MiningRecipe
from karat.mining.targets import MATCHES
from karat.model import Dataset, Query

__all__ = ["build_dataset", "unique_names"]


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


def unique_names(paths: Sequence[str]) -> list[str]:
    """Return a name for each repository: the shortest end of its path that is unique.

    >>> unique_names(["/a/flask.git", "/b/click/.git"]), unique_names(["/x/a/repo", "/x/b/repo"])
    (['flask', 'click'], ['a-repo', 'b-repo'])
    """
    ways = [Path(path).resolve() for path in paths]
    if len(set(ways)) < len(ways):
        twice = next(path for path, way in zip(paths, ways, strict=True) if ways.count(way) > 1)
        raise InputError(f"{twice}: the repository is given twice; pass each repository once")
    steps = [(way.parent if way.name == ".git" else way).parts[1:] for way in ways]
    depths = range(1, max(map(len, steps)) + 1)
    tails = (["-".join(some[-depth:]).removesuffix(".git") for some in steps] for depth in depths)
    return next(names for names in tails if len(set(names)) == len(names))


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
