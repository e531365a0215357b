"""karat export training: queries, positives and hard negatives for sentence-transformers."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from math import isnan
from pathlib import Path
from typing import NamedTuple

from karat.app.training.collect import TrainingRequest, collect_examples
from karat.errors import EngineError, InputError
from karat.experiments.target_check import Where
from karat.mining.training import (
    Contamination,
    NegativeRules,
    TrainingExample,
    TrainingText,
    split_dataset,
    without_held_out,
)
from karat.model import Dataset
from karat.model.evaluation import CorpusCoverage
from karat.report.table import Cell, Column, Table
from karat.system.files import write_text

__all__ = [
    "LAYOUTS",
    "HeldOutCheck",
    "NegativeRules",
    "TrainingExport",
    "TrainingRequest",
    "check_folder",
    "export_training",
    "training_tables",
    "without_own_files",
]

TRAIN = "train"


class HeldOutCheck(NamedTuple):
    """What the export shares with the test set called *name*.

    *unchecked* says why the texts of its targets could not be compared, "" if they were.
    """

    name: str
    queries: int
    found: Contamination
    unchecked: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingExport:
    """The files of an export as data: the examples and the rows of each part, with all counts.

    *lost* counts queries that have no row, and *dropped* hits that are not negatives, by reason.
    *between* is what the parts shared, by the name of the earlier part. *failure* is the first
    error of the engine.
    """

    request: TrainingRequest
    engine: str
    chunker: str
    searched: CorpusCoverage
    parts: Mapping[str, Sequence[TrainingExample]]
    rows: Mapping[str, Sequence[Mapping[str, object]]]
    lost: Mapping[str, int]
    dropped: Mapping[str, int]
    checks: tuple[HeldOutCheck, ...] = ()
    between: Mapping[str, Contamination] = field(default_factory=dict)
    failure: str = ""

    def to_json(self) -> dict[str, object]:
        """Return the recipe and all counts, as in ``dataset_info.json``."""
        request = self.request
        return {
            "gold_set": request.gold.name,
            "repositories": _repositories(request.gold),
            "engine": {"name": self.engine, **(dict(request.spec.params) if request.spec else {})},
            "chunker": self.chunker,
            "layout": request.layout,
            "columns": list(next((rows[0] for rows in self.rows.values() if rows), ())),
            "rules": {
                **asdict(request.rules),
                "positives": request.positives,
                "headers": request.headers,
            },
            "searched": {
                "snapshot": self.searched.snapshot,
                "candidates": self.searched.candidates,
                "skipped_files": self.searched.skipped_files,
            },
            "split": {"by": request.split_by, "held_out": request.held_out}
            if self.between
            else None,
            "parts": {
                name: {
                    "queries": len(examples),
                    "positives": sum(len(one.positives) for one in examples),
                    "negatives": sum(len(one.negatives) for one in examples),
                    "rows": len(self.rows[name]),
                }
                for name, examples in self.parts.items()
            },
            "lost_queries": dict(self.lost),
            "dropped_hits": dict(self.dropped),
            "engine_failure": self.failure,
            "shared_between_parts": {name: _as_json(one) for name, one in self.between.items()},
            "test_sets": [
                {
                    "name": check.name,
                    "queries": check.queries,
                    **_as_json(check.found),
                    "unchecked": check.unchecked,
                    "allowed": request.allow_contamination,
                }
                for check in self.checks
            ],
        }

    def write(self, folder: str | Path) -> list[Path]:
        """Write the rows of each part, their sources, the recipe and a README to *folder*."""
        place = Path(folder)
        place.mkdir(parents=True, exist_ok=True)
        for old in place.glob("*.jsonl"):
            old.unlink()
        files = {f"{name}.jsonl": _lines(rows) for name, rows in self.rows.items()}
        files["sources.jsonl"] = _lines(
            {"part": name, **_source(example)}
            for name, examples in self.parts.items()
            for example in examples
        )
        files[MANIFEST] = json.dumps(self.to_json(), indent=2, ensure_ascii=False) + "\n"
        files["README.md"] = _readme(self)
        for name, text in files.items():
            write_text(place / name, text)
        return [place / name for name in files]


MANIFEST = "dataset_info.json"
# Why a query is lost that --allow-contamination would keep.
SHARED = "shared with a test set"


def check_folder(folder: str | Path, *, force: bool) -> None:
    """Raise InputError if *folder* holds other files, or an earlier export without *force*."""
    place = Path(folder)
    if not place.exists() or not any(place.iterdir()):
        return
    if not (place / MANIFEST).exists():
        raise InputError(f"{place} is not empty; expected a new folder (-o FOLDER)")
    if not force:
        raise InputError(f"{place} holds an earlier export; --force replaces it")


def without_own_files(where: Where, *files: str) -> Where:
    """Return *where* without *files*, such as the gold set or an earlier export in the corpus."""
    if where.corpus is None:
        return where
    folder = Path(where.corpus).resolve()
    paths = (Path(file).resolve() for file in files)
    inside = (path.relative_to(folder).as_posix() for path in paths if folder in path.parents)
    return where._replace(exclude=(*where.exclude, *(f"/{path}" for path in inside)))


def export_training(
    request: TrainingRequest, *, progress: Callable[[int, int], None] | None = None
) -> TrainingExport:
    """Return the training data of *request*; InputError if no row is left."""
    request.rules.check()
    if request.layout not in LAYOUTS:
        raise InputError(
            f"layout {request.layout!r} is not valid; expected one of: {', '.join(LAYOUTS)}"
        )
    if request.split:
        # A split that cannot be made is reported before the search, not after it.
        _parts(request, request.gold)
    collected = collect_examples(request, progress=progress)
    lost, examples = Counter(collected.lost), list(collected.examples)
    checks = []
    for test_set in request.test_sets:
        check, clean = _checked(request, test_set, examples)
        checks.append(check)
        if not request.allow_contamination:
            lost[SHARED] += len(examples) - len(clean)
            examples = clean
    parts, between = _split(request, examples)
    lost["shared with a later part"] += len(examples) - sum(map(len, parts.values()))
    rows: dict[str, list[dict[str, object]]] = {name: [] for name in parts}
    with_rows: dict[str, list[TrainingExample]] = {name: [] for name in parts}
    make, best = LAYOUTS[request.layout], max([*request.gold.grades, 1.0])
    for name, part in parts.items():
        for example in part:
            if made := list(make(example, request.rules.count, best)):
                rows[name] += made
                with_rows[name].append(example)
            else:
                lost[_why_lost(example, request)] += 1
    if not rows.get(request.split[0] if request.split else TRAIN):
        why = ", ".join(f"{count} {reason}" for reason, count in lost.most_common() if count)
        advice = (
            "use another --test-set, or keep shared queries with --allow-contamination"
            if lost.most_common(1)[0][0] == SHARED
            else "a larger --depth, --max-score-ratio 0 or --layout pair keeps more"
        )
        raise InputError(
            f"{request.gold.name}: {len(request.gold)} queries give no training row ({why}); "
            f"{advice}"
        )
    return TrainingExport(
        request=request,
        engine=collected.engine,
        chunker=collected.chunker,
        searched=collected.searched,
        parts=with_rows,
        rows=rows,
        lost={reason: count for reason, count in lost.items() if count},
        dropped=dict(collected.dropped.most_common()),
        checks=tuple(checks),
        between=between,
        failure=collected.failure,
    )


def _why_lost(example: TrainingExample, request: TrainingRequest) -> str:
    """Return why *example* has no row."""
    if not example.negatives and not any(text.rank for text in example.positives):
        return f"positive not in the first {request.rules.depth} hits"
    if request.layout == "n-tuple":
        return f"fewer than {request.rules.count} negatives"
    return "no negative left"


def _checked(
    request: TrainingRequest, test_set: Dataset, examples: Sequence[TrainingExample]
) -> tuple[HeldOutCheck, list[TrainingExample]]:
    """Compare *examples* with *test_set*, whose target texts are read from its own snapshots."""
    held: Sequence[TrainingExample] = [TrainingExample(query, ()) for query in test_set.queries()]
    unchecked = ""
    mined = any(test_set.metadata.get(key) for key in ("repository", "repositories"))
    # Its own repositories first, then those that the user names because they have moved.
    places = (Where(), request.where) if mined and not request.where.corpus else (request.where,)
    for where in places:
        try:
            pairs = replace(request, gold=test_set, where=where, run=None)
            held = collect_examples(pairs, targets_only=True).examples
        except (InputError, EngineError) as error:
            unchecked = str(error)
        else:
            unchecked = ""
            break
    clean, found = without_held_out(examples, held)
    return HeldOutCheck(test_set.name, len(test_set), found, unchecked), clean


def _parts(request: TrainingRequest, gold: Dataset) -> dict[str, tuple[str, ...]]:
    return split_dataset(gold, request.split, by=request.split_by, held_out=request.held_out)


def _split(
    request: TrainingRequest, examples: Sequence[TrainingExample]
) -> tuple[dict[str, list[TrainingExample]], dict[str, Contamination]]:
    """Return the parts, each without what it shares with a later one, and what that was."""
    if not request.split:
        return {TRAIN: list(examples)}, {}
    ids = _parts(request, request.gold.with_queries(example.query for example in examples))
    by_id = {example.query.id: example for example in examples}
    parts = {name: [by_id[query_id] for query_id in ids[name]] for name in request.split}
    between = {}
    for number, name in enumerate(request.split[:-1]):
        later = [one for other in request.split[number + 1 :] for one in parts[other]]
        parts[name], between[name] = without_held_out(parts[name], later)
    return parts, between


def _triplets(example: TrainingExample, _count: int, _best: float) -> Iterator[dict[str, object]]:
    for positive in example.positives:
        for negative in example.negatives:
            yield {
                "anchor": example.query.text,
                "positive": positive.text,
                "negative": negative.text,
            }


def _tuples(example: TrainingExample, count: int, _best: float) -> Iterator[dict[str, object]]:
    if len(example.negatives) < count:
        return
    negatives = {
        f"negative_{number}": negative.text
        for number, negative in enumerate(example.negatives, start=1)
    }
    for positive in example.positives:
        yield {"anchor": example.query.text, "positive": positive.text, **negatives}


def _pairs(example: TrainingExample, _count: int, _best: float) -> Iterator[dict[str, object]]:
    for positive in example.positives:
        yield {"anchor": example.query.text, "positive": positive.text}


def _scored_pairs(
    example: TrainingExample, _count: int, best: float
) -> Iterator[dict[str, object]]:
    if not example.negatives:
        return
    for text in (*example.positives, *example.negatives):
        yield {"anchor": example.query.text, "text": text.text, "score": text.grade / best}


# The rows of an example, by layout; columns in the order that losses of sentence-transformers read.
LAYOUTS: Mapping[str, Callable[[TrainingExample, int, float], Iterator[dict[str, object]]]] = {
    "triplet": _triplets,
    "n-tuple": _tuples,
    "pair": _pairs,
    "scored": _scored_pairs,
}


def _lines(rows: Iterable[Mapping[str, object]]) -> str:
    return "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def _source(example: TrainingExample) -> dict[str, object]:
    extra = example.query.extra
    commits = {key: extra[key] for key in ("base_commit", "commit_hash") if extra.get(key)}
    return {
        "query_id": example.query.id,
        **commits,
        "positives": [{**_location(text), "grade": text.grade} for text in example.positives],
        "negatives": [_location(text) for text in example.negatives],
    }


def _location(text: TrainingText) -> dict[str, object]:
    place = f"{text.path}:{text.start_line}-{text.end_line}"
    found = {"rank": text.rank} if text.rank else {}
    return {"place": place, **found, **({} if isnan(text.score) else {"score": text.score})}


def _as_json(found: Contamination) -> dict[str, object]:
    return {
        "queries": {reason: len(ids) for reason, ids in found.queries.items()},
        "negatives": found.negatives,
    }


def _repositories(gold: Dataset) -> list[dict[str, object]]:
    """Return name and newest commit of each repository; folders of this machine are left out."""
    listed = gold.metadata.get("repositories")
    return [
        {"name": str(entry.get("name") or ""), "head": str(entry.get("head") or "")}
        for entry in (listed if isinstance(listed, list | tuple) else ())
        if isinstance(entry, Mapping)
    ]


def _readme(export: TrainingExport) -> str:
    """Return a dataset card; its first lines are the configuration that `datasets` reads."""
    request = export.request
    files = "".join(f"  - split: {name}\n    path: {name}.jsonl\n" for name in export.rows)
    names = ", ".join(str(one["name"]) for one in _repositories(request.gold)) or request.gold.name
    table = "".join(
        f"| {name} | {len(part):,} | {len(export.rows[name]):,} |\n"
        for name, part in export.parts.items()
    )
    return (
        f"---\nconfigs:\n- config_name: default\n  data_files:\n{files}---\n\n"
        f"# Training data from {names}\n\n"
        f"Queries, positives and hard negatives (layout `{request.layout}`), written by "
        f"`karat export training`. The negatives are hits of `{export.engine}` that are not "
        "targets. `dataset_info.json` has the recipe and all counts, `sources.jsonl` the lines and "
        "commits of every text.\n\n"
        f"| part | queries | rows |\n|---|---:|---:|\n{table}\n"
        f"The texts are copied from {names}: their licences apply to this dataset. Check them "
        "before you publish the data or a model that was trained on it.\n"
    )


def training_tables(export: TrainingExport) -> list[Table]:
    """Return what was written, what is missing and why, and what test sets share with it."""
    parts = [
        (
            name,
            len(part),
            sum(len(one.positives) for one in part),
            sum(len(one.negatives) for one in part),
            len(export.rows[name]),
        )
        for name, part in export.parts.items()
    ]
    tables = [_table("Training data", ("part", "queries", "positives", "negatives", "rows"), parts)]
    if export.lost:
        tables.append(_table("Queries left out", ("reason", "queries"), export.lost.items()))
    if export.dropped:
        tables.append(
            _table("Hits that are not negatives", ("reason", "hits"), export.dropped.items())
        )
    verb = "kept" if export.request.allow_contamination else "dropped"
    shared = [
        *(
            (f"{name}, with later parts", found, "dropped")
            for name, found in export.between.items()
        ),
        *((f"test set {check.name}", check.found, verb) for check in export.checks),
    ]
    rows: list[tuple[str | int, ...]] = []
    for name, found, outcome in shared:
        counts = {reason: len(ids) for reason, ids in found.queries.items()}
        counts["negative is a target"] = found.negatives
        rows += [(name, reason, count, outcome) for reason, count in counts.items() if count]
    if rows:
        tables.append(
            _table("Shared with held-out data", ("data", "reason", "count", "outcome"), rows)
        )
    return tables


def _table(title: str, names: Sequence[str], rows: Iterable[Sequence[str | int]]) -> Table:
    cells = tuple(
        tuple(Cell(f"{value:,}" if isinstance(value, int) else value, value) for value in row)
        for row in rows
    )
    numeric = [isinstance(cell.value, int) for cell in cells[0]]
    columns = tuple(Column(name, number) for name, number in zip(names, numeric, strict=True))
    return Table(title, columns, cells)
