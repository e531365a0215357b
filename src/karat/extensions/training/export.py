"""karat export training: queries, positives and hard negatives for sentence-transformers."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from math import inf, isnan, nan
from pathlib import Path
from typing import NamedTuple

from karat.app.search import chunk_engine
from karat.corpus import Chunk, Corpus, chunk_corpus, create_chunker
from karat.corpus.chunkers.base import Chunker, lines_of
from karat.corpus.chunkers.chunking import MemoryCache, header
from karat.engines.base import Engine
from karat.engines.spec import build
from karat.errors import EngineError, InputError
from karat.experiments.plan import judged_units, with_unit
from karat.experiments.target_check import Where, check_snapshots, locate_pages
from karat.extensions.training.examples import (
    CandidateText,
    Contamination,
    NegativeRules,
    TrainingExample,
    TrainingText,
    choose_negatives,
    split_dataset,
    without_held_out,
)
from karat.model import Dataset, Hit, Query, Run, Target
from karat.model.coverage import CorpusCoverage
from karat.model.spec import Spec
from karat.report.table import Cell, Column, Table
from karat.scoring.matching.modes import MATCHERS, Matcher, tie_policy
from karat.scoring.matching.regions import order_hits, valid_hits
from karat.system.files import write_text

__all__ = [
    "LAYOUTS",
    "CollectedExamples",
    "HeldOutCheck",
    "NegativeRules",
    "TrainingExport",
    "TrainingRequest",
    "check_folder",
    "collect_examples",
    "export_training",
    "training_tables",
    "without_own_files",
]

FAILED = "engine failed"
# The chunker of engines that have none.
DEFAULT_CHUNKER = "auto"
TRAIN = "train"


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingRequest:
    """What is exported: a gold set, and the engine or the run whose hits become negatives.

    *positives* is the number of positive texts per query at most. With *headers*, each text begins
    with its path and symbols, as built-in engines index it. *split* names the parts, none for a
    single part. *test_sets* must not share queries, commits or target texts with the training data.
    """

    gold: Dataset
    where: Where
    spec: Spec | None = None
    run: Run | None = None
    rules: NegativeRules = field(default_factory=NegativeRules)
    layout: str = "triplet"
    positives: int = 3
    headers: bool = False
    split: tuple[str, ...] = ()
    split_by: str = "time"
    held_out: float = 0.2
    test_sets: tuple[Dataset, ...] = ()
    allow_contamination: bool = False


@dataclass(frozen=True, slots=True)
class CollectedExamples:
    """The examples of a gold set, what they were collected with, and why others are missing.

    *failure* is the first error of the engine, "" if it answered every query.
    """

    examples: tuple[TrainingExample, ...]
    engine: str
    chunker: str
    searched: CorpusCoverage
    lost: Counter[str]
    dropped: Counter[str]
    failure: str = ""


def collect_examples(
    request: TrainingRequest,
    *,
    targets_only: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> CollectedExamples:
    """Return the examples of the gold set, in its order, read from the snapshots of their queries.

    With *targets_only* nothing is searched: every query comes with its positives alone, if any.
    """
    gold = locate_pages(request.gold, request.where)
    spec = request.spec and with_unit(request.spec, judged_units(gold, gold.match).most)
    lost: Counter[str] = Counter()
    dropped: Counter[str] = Counter()
    examples: dict[int, TrainingExample] = {}
    done = 0
    with _engine(spec) as engine, request.where.snapshots(gold, seed=0) as snapshots:
        coverage = check_snapshots(gold, snapshots, match=gold.match).searched
        reader = _ChunkReader(_chunker(engine), headers=request.headers)
        source = _HitSource() if targets_only else _hit_source(gold, engine, request)
        for corpus, queries, _ in snapshots:
            source.show(corpus)
            for row in sorted(queries.rows):
                hits, problem = source.hits(row)
                example, reason = _Case(gold, row, corpus, reader).example(hits, request, dropped)
                if reason := problem or reason:
                    lost[reason] += 1
                if targets_only or not reason:
                    examples[row] = example
                done += 1
                if progress:
                    progress(done, len(gold))
    if lost[FAILED] == len(gold) > 0:
        raise EngineError(f"every query failed; the first: {source.failure}")
    name = request.run.name if request.run else spec.name if spec else ""
    ordered = tuple(examples[row] for row in sorted(examples))
    return CollectedExamples(ordered, name, reader.name, coverage, lost, dropped, source.failure)


class _HitSource:
    """A source of hits, without any. *failure* is the first error of an engine."""

    failure = ""

    def show(self, corpus: Corpus) -> None:
        """Search *corpus* from now on."""

    def hits(self, row: int) -> tuple[Sequence[Hit], str]:  # noqa: ARG002 - for the other sources
        """Return the hits of the query at *row*, and why they are missing ("" if not)."""
        return (), ""


def _hit_source(gold: Dataset, engine: Engine | None, request: TrainingRequest) -> _HitSource:
    if request.run is not None:
        return _RunHits(gold, request.run)
    return _EngineHits(gold, engine, request.rules.depth) if engine else _HitSource()


class _RunHits(_HitSource):
    """The hits of a run, in the order that scoring gives them."""

    def __init__(self, gold: Dataset, run: Run) -> None:
        rows = {query_id: row for row, query_id in enumerate(gold.query_ids)}
        self._hits: dict[int, Sequence[Hit]] = {}
        for answer in run.answers():
            if answer.query_id in rows:
                hits = valid_hits(answer.hits, Counter())
                ordered, _ = order_hits(hits, [0.0] * len(hits), tie_policy(None, run))
                self._hits[rows[answer.query_id]] = ordered
        if not self._hits:
            raise InputError(
                f"{run.name} answers none of the queries of {gold.name}; expected a run of this "
                "gold set, or --engine"
            )

    def hits(self, row: int) -> tuple[Sequence[Hit], str]:
        return (self._hits[row], "") if row in self._hits else ((), "not in the run")


class _EngineHits(_HitSource):
    """The hits of an engine, which moves from snapshot to snapshot if it can."""

    def __init__(self, gold: Dataset, engine: Engine, depth: int) -> None:
        self._texts = gold.texts
        self._engine = engine
        self._depth = depth
        self._moves = False
        engine.expect(gold.texts)

    def show(self, corpus: Corpus) -> None:
        if self._moves:
            self._engine.show(corpus)
        else:
            self._engine.index(corpus)
        self._moves = True

    def hits(self, row: int) -> tuple[Sequence[Hit], str]:
        try:
            return self._engine.search(self._texts[row], self._depth), ""
        except EngineError as error:
            self.failure = self.failure or str(error)
            return (), FAILED


@contextmanager
def _engine(spec: Spec | None) -> Iterator[Engine | None]:
    if spec is None:
        yield None
        return
    engine = build(spec)
    try:
        yield engine
    finally:
        engine.close()


def _chunker(engine: Engine | None) -> Chunker:
    """Return the chunker of a built-in engine, for any other the default one."""
    inner = chunk_engine(engine) if engine else None
    if inner is None:
        return create_chunker(DEFAULT_CHUNKER)
    return create_chunker(inner.recipe.chunker, **inner.recipe.chunker_options)


class _ChunkReader:
    """Reads documents as chunks; each content is cut once."""

    def __init__(self, chunker: Chunker, *, headers: bool) -> None:
        self._chunker = chunker
        self._cache = MemoryCache()
        self._headers = headers
        self.name = chunker.spec.name

    def chunks(self, corpus: Corpus, path: str) -> tuple[Chunk, ...]:
        document = corpus.by_path[path]
        alone = replace(corpus, documents=(document,))
        (chunks,) = chunk_corpus(alone, self._chunker, cache=self._cache).by_document
        return chunks

    def text(self, chunk: Chunk, path: str) -> str:
        return f"{header(chunk, path)}\n{chunk.text}" if self._headers else chunk.text


class _Region(NamedTuple):
    """Lines of a document that a target means; 0 and 0 where it does not say which."""

    path: str
    start_line: int
    end_line: int
    grade: float

    def lines_in(self, start_line: int, end_line: int) -> int:
        """Return how many of the lines are from *start_line* to *end_line*."""
        return max(0, min(self.end_line, end_line) - max(self.start_line, start_line) + 1)


class _Case:
    """One query on its snapshot."""

    def __init__(self, gold: Dataset, row: int, corpus: Corpus, reader: _ChunkReader) -> None:
        self._query = Query(
            gold.query_ids[row],
            gold.texts[row],
            tuple(gold.targets(row)),
            {tag: column[row] for tag, column in gold.tags.items() if column[row]},
            gold.extras[row],
        )
        self._corpus = corpus
        self._reader = reader
        self._matcher = MATCHERS.get(gold.match)()
        self._regions = list(_regions(self._query, corpus, reader, self._matcher))
        self._languages = {corpus.by_path[region.path].language for region in self._regions}

    def example(
        self, hits: Sequence[Hit], request: TrainingRequest, dropped: Counter[str]
    ) -> tuple[TrainingExample, str]:
        """Return the example, and why it cannot be used ("" if it can)."""
        candidates = [
            self._candidate(hit, rank)
            for rank, hit in enumerate(hits, start=1)
            if hit.path in self._corpus.by_path
        ]
        scored = [self._scored(text, candidates) for text in self._positives()]
        every = sorted(scored, key=lambda text: (-text.grade, text.rank or inf))
        chosen = tuple(every[: request.positives])
        # Without scores: negatives are compared with the best positive that is exported.
        others = tuple(text._replace(rank=0, score=nan) for text in every[request.positives :])
        example = TrainingExample(self._query, chosen, others=others)
        if not chosen:
            return example, "target text not found"
        rules = request.rules
        unscored = all(isnan(positive.score) for positive in chosen)
        if rules.max_score_ratio and unscored and any(not isnan(hit.score) for hit in hits):
            # The positive scores less than every hit, and so do no negatives.
            return example, ""
        negatives = choose_negatives(candidates, (*chosen, *others), rules, dropped)
        return replace(example, negatives=negatives), ""

    def _positives(self) -> list[TrainingText]:
        """Return the chunks that hold the targets: the highest grade, then the most lines first.

        Chunks that define nothing, such as a block of imports, count only if all are like that.
        """
        by_lines: dict[tuple[str, int, int], tuple[float, int, TrainingText]] = {}
        defining: set[tuple[str, int, int]] = set()
        for region in self._regions:
            for chunk in self._reader.chunks(self._corpus, region.path):
                lines = region.lines_in(chunk.start_line, chunk.end_line)
                if not lines:
                    continue
                key = region.path, chunk.start_line, chunk.end_line
                grade, known, _ = by_lines.get(key, (0.0, 0, None))
                grade = max(grade, region.grade)
                text = TrainingText(self._reader.text(chunk, region.path), *key, grade=grade)
                by_lines[key] = grade, known + lines, text
                if chunk.symbols:
                    defining.add(key)
        usable = [by_lines[key] for key in by_lines if key in defining or not defining]
        ordered = sorted(usable, key=lambda one: (-one[0], -one[1], one[2][1:4]))
        return [text for _, _, text in ordered]

    def _scored(self, positive: TrainingText, candidates: Iterable[CandidateText]) -> TrainingText:
        """Return *positive* with the rank and score of the first hit on its lines."""
        for candidate in candidates:
            text = candidate.text
            if text.path == positive.path and (
                text.start_line <= positive.end_line and positive.start_line <= text.end_line
            ):
                return positive._replace(rank=text.rank, score=text.score)
        return positive

    def _candidate(self, hit: Hit, rank: int) -> CandidateText:
        chunk = self._chunk(hit)
        text = TrainingText(
            self._reader.text(chunk, hit.path),
            hit.path,
            chunk.start_line,
            chunk.end_line,
            rank=rank,
            score=hit.score,
        )
        spelled = hit._replace(path=self._matcher.spelled(hit.path))
        grades = [
            target.grade
            for target in self._query.targets
            if target.grade >= 0
            and self._matcher.credit(
                spelled, target._replace(path=self._matcher.spelled(target.path))
            )
        ]
        grades += [
            region.grade
            for region in self._regions
            if region.path == hit.path and region.lines_in(chunk.start_line, chunk.end_line)
        ]
        beside = any(region.path == hit.path for region in self._regions)
        foreign = self._corpus.by_path[hit.path].language not in self._languages
        return CandidateText(text, max(grades, default=None), beside, foreign)

    def _chunk(self, hit: Hit) -> Chunk:
        """Return the chunk that *hit* is, or the lines of a hit that is not a chunk.

        A whole file is represented by its chunk with most words of the query.
        """
        chunks = self._reader.chunks(self._corpus, hit.path)
        if not hit.end_line:
            return _nearest_chunk(chunks, self._query.text)
        for chunk in chunks:
            if (chunk.start_line, chunk.end_line) == (hit.start_line, hit.end_line):
                return chunk
        lines = lines_of(self._corpus.read(hit.path))
        text = "".join(lines[max(hit.start_line, 1) - 1 : hit.end_line])
        return Chunk("", "", hit.start_line, hit.end_line, text)


def _nearest_chunk(chunks: Sequence[Chunk], query: str) -> Chunk:
    from karat.engines.lexical.tokens import TokenRules

    terms = TokenRules().terms
    words = set(terms(query))
    return max(
        chunks,
        key=lambda chunk: len(words.intersection(terms(chunk.text))),
        default=Chunk("", "", 1, 1, ""),
    )


def _regions(
    query: Query, corpus: Corpus, reader: _ChunkReader, matcher: Matcher
) -> Iterator[_Region]:
    """Yield the lines of the relevant targets of *query* that exist in *corpus*.

    A target without lines is the changed lines of its file, if the query was mined, or the chunks
    that define its symbol, or else the chunk with most words of the query.
    """
    changed = _changed_lines(query)
    for target in query.targets:
        if target.grade <= 0 or target.ref != "path":
            continue
        for path in _documents(target, corpus, matcher):
            if target.end_line:
                lines = [(target.start_line, target.end_line, target.grade)]
            elif target.symbol:
                lines = [
                    (chunk.start_line, chunk.end_line, target.grade)
                    for chunk in reader.chunks(corpus, path)
                    if target.symbol in chunk.symbols
                ]
            elif path in changed:
                lines = changed[path]
            else:
                chunk = _nearest_chunk(reader.chunks(corpus, path), query.text)
                lines = [(chunk.start_line, chunk.end_line, target.grade)]
            for start_line, end_line, grade in lines:
                yield _Region(path, start_line, end_line, grade)


def _documents(target: Target, corpus: Corpus, matcher: Matcher) -> list[str]:
    path = matcher.spelled(target.path)
    if path in corpus.by_path or not path:
        return [path] if path else []
    spelled = Target(path)
    return [other for other in corpus.by_path if matcher.credit(Hit(other), spelled)]


def _changed_lines(query: Query) -> dict[str, list[tuple[int, int, float]]]:
    """Return the lines that the commit of a mined query changed, with their grades, by path."""
    files = query.extra.get("files")
    by_path: dict[str, list[tuple[int, int, float]]] = {}
    for file in files if isinstance(files, list | tuple) else ():
        for region in file.get("regions", ()):
            lines, _, grade = str(region).split(" ", 1)[0].partition(":")
            first, _, last = lines.partition("-")
            by_path.setdefault(str(file["path"]), []).append((int(first), int(last), float(grade)))
    return by_path


class HeldOutCheck(NamedTuple):
    """What the export shares with the test set called *name*.

    *unchecked* says why the texts of its targets could not be compared, "" if they were.
    """

    name: str
    queries: int
    shared: Contamination
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
                    **_as_json(check.shared),
                    "unchecked": check.unchecked,
                    "allowed": request.allow_contamination,
                }
                for check in self.checks
            ],
        }

    def write(self, folder: str | Path) -> list[Path]:
        """Write the rows of each part, their sources, the recipe and a README to *folder*."""
        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        for old in path.glob("*.jsonl"):
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
            write_text(path / name, text)
        return [path / name for name in files]


MANIFEST = "dataset_info.json"
# Why a query is lost that --allow-contamination would keep.
SHARED = "shared with a test set"


def check_folder(folder: str | Path, *, force: bool) -> None:
    """Raise InputError if *folder* holds other files, or an earlier export without *force*."""
    path = Path(folder)
    if not path.exists() or not any(path.iterdir()):
        return
    if not (path / MANIFEST).exists():
        raise InputError(f"{path} is not empty; expected a new folder (-o FOLDER)")
    if not force:
        raise InputError(f"{path} holds an earlier export; --force replaces it")


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
    clean, shared = without_held_out(examples, held)
    return HeldOutCheck(test_set.name, len(test_set), shared, unchecked), clean


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
    return {
        "place": f"{text.path}:{text.start_line}-{text.end_line}",
        **({"rank": text.rank} if text.rank else {}),
        **({} if isnan(text.score) else {"score": text.score}),
    }


def _as_json(contamination: Contamination) -> dict[str, object]:
    return {
        "queries": {reason: len(ids) for reason, ids in contamination.queries.items()},
        "negatives": contamination.negatives,
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
            (f"{name}, with later parts", contamination, "dropped")
            for name, contamination in export.between.items()
        ),
        *((f"test set {check.name}", check.shared, verb) for check in export.checks),
    ]
    rows: list[tuple[str | int, ...]] = []
    for name, contamination, outcome in shared:
        counts = {reason: len(ids) for reason, ids in contamination.queries.items()}
        counts["negative is a target"] = contamination.negatives
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
