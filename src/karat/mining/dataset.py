"""Build a dataset from mined repositories, with the metadata that make it reproducible."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from karat.errors import InputError
from karat.mining.cases import CLUSTER, format_time
from karat.mining.drafts import Role
from karat.mining.mine import MinedRepository
from karat.mining.recipe import MiningRecipe
from karat.mining.targets import MATCHES
from karat.model import Dataset, Query, Target

__all__ = ["JudgmentRecord", "build_dataset", "judgments_of", "unique_names", "with_judgments"]


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


KEY = "judgments"


class JudgmentRecord(NamedTuple):
    """One judgment; *target* has the grade that was given, *at* is the time in ISO 8601."""

    target: Target
    judge: str
    at: str
    note: str = ""


def judgments_of(query: Query) -> tuple[JudgmentRecord, ...]:
    """Return the judgments stored in *query*, oldest first."""
    rows = query.extra.get(KEY, ())
    try:
        return tuple(_judgment(row) for row in rows)  # type: ignore[attr-defined]
    except (TypeError, KeyError, ValueError) as error:
        raise InputError(
            f"query {query.id!r}: {KEY!r} is not a list of judgments as karat judge writes it"
        ) from error


def with_judgments(query: Query, judgments: Iterable[JudgmentRecord]) -> Query:
    """Return *query* with *judgments* instead of its own; an empty list removes the key.

    >>> ann = JudgmentRecord(Target("a.py", 2), "ann", "2024-05-01T12:00:00Z")
    >>> with_judgments(Query("q", "who"), [ann]).extra["judgments"]
    [{'path': 'a.py', 'grade': 2, 'judge': 'ann', 'at': '2024-05-01T12:00:00Z'}]
    """
    rows = [_row(judgment) for judgment in judgments]
    rest = {key: value for key, value in query.extra.items() if key != KEY}
    return query._replace(extra=rest | ({KEY: rows} if rows else {}))


def _row(judgment: JudgmentRecord) -> dict[str, object]:
    target, judge, at, note = judgment
    blank = Target("")
    place = {
        key: value
        for key, value in target._asdict().items()
        if key in ("path", "grade") or value != getattr(blank, key)
    }
    return {**place, "judge": judge, "at": at} | ({"note": note} if note else {})


def _judgment(row: Mapping[str, object]) -> JudgmentRecord:
    fields = dict(row)
    about = {key: str(fields.pop(key)) for key in ("judge", "at")}
    note = str(fields.pop("note", ""))
    return JudgmentRecord(Target(**fields), note=note, **about)  # type: ignore[arg-type]
