"""Judge a run: ranks and grades of its hits on a dataset. The entry point of matching.

A query may list places that are as good as a target, such as copies of a passage, in its extra
field ``alternatives``. A hit on such a place counts as a hit on the target itself, so that copies
neither add to the ideal ranking nor count twice.
"""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from math import inf, isfinite

from karat.errors import InputError
from karat.model import (
    Answer,
    Dataset,
    Hit,
    JudgedQuery,
    JudgedRun,
    Outcome,
    Query,
    QueryStatus,
    Run,
    Target,
)
from karat.model.evaluation import Mismatch
from karat.model.frozen import EMPTY
from karat.model.judged import Sizes, Subtopics, Trace
from karat.scoring.matching.documents import NonFiniteScore, judge_ranking
from karat.scoring.matching.mismatch import MismatchCounts, QuerySample, Repair
from karat.scoring.matching.modes import (
    MATCHERS,
    Matcher,
    QueryTargets,
    as_float32,
    cut_path,
    matches_by_id,
    query_targets,
    tie_policy,
    without_prefix,
)
from karat.scoring.matching.near_misses import NearMisses
from karat.scoring.matching.regions import (
    RankedHits,
    judge_hits,
    order_hits,
    rank_hits,
    sizes_of_files,
    valid_hits,
)

ALTERNATIVES = "alternatives"
# The modes that compare whole names.
WHOLE_NAMES = ("document", "exact", "lines", "directory", "symbol")
Truth = Dataset | Mapping[str, Mapping[str, float]]
Scored = Mapping[str, Mapping[str, float]] | Iterable[tuple[str, Mapping[str, float]]]

OUTCOME_STATUS = {
    Outcome.ANSWERED: QueryStatus.SCORED,
    Outcome.ERROR: QueryStatus.ERROR,
    Outcome.TIMEOUT: QueryStatus.TIMEOUT,
}


def with_alternatives(
    hits: Sequence[Hit],
    targets: Sequence[Target],
    extra: Mapping[str, object],
    matcher: Matcher,
) -> list[Hit]:
    """Return *hits*; one on an alternative place, and on no target, becomes a hit on its target.

    >>> from karat.scoring.matching.modes import lines
    >>> copy = {"path": "b", "start_line": 7, "end_line": 8}
    >>> original = {"path": "a", "start_line": 1, "end_line": 2}
    >>> extra = {"alternatives": [{**copy, "target": original}]}
    >>> with_alternatives([Hit("b", 0.5, 8, 9)], [Target("a", 1, 1, 2)], extra, lines())[0].path
    'a'
    """
    listed = extra.get(ALTERNATIVES)
    if not listed:
        return list(hits)
    pairs = _pairs(listed, matcher)
    result = []
    for hit in hits:
        original = None
        if not any(matcher.credit(hit, target) for target in targets):
            original = next(
                (original for copy, original in pairs if matcher.credit(hit, copy)), None
            )
        if original is not None:
            lines = (original.start_line, original.end_line) if hit.end_line else (0, 0)
            hit = hit._replace(path=original.path, start_line=lines[0], end_line=lines[1])  # noqa: PLW2901
        result.append(hit)
    return result


def _pairs(listed: object, matcher: Matcher) -> list[tuple[Target, Target]]:
    """Return each alternative place with the place of its target."""
    try:
        return [
            (_alternative(each, matcher), _alternative(each["target"], matcher))
            for each in listed  # type: ignore[attr-defined] # checked by the except
        ]
    except (KeyError, TypeError, ValueError, AttributeError):
        raise InputError(
            f"{ALTERNATIVES!r} of a query is not a list of places with path, start_line, end_line "
            "and target, as karat resolve writes it"
        ) from None


def _alternative(record: Mapping[str, object], matcher: Matcher) -> Target:
    start, end = (int(str(record.get(key) or 0)) for key in ("start_line", "end_line"))
    return Target(matcher.spelled(str(record["path"])), 1.0, start, end)


def judge(
    truth: Truth,
    run: Run | Scored,
    *,
    match: str | None = None,
    ties: str | None = None,
    judged_only: bool = False,
    depth: int | None = None,
    min_overlap: float = 0.0,
    root: str = "",
    strip_prefix: Sequence[str] = (),
    cut_at: str = "",
    known: Collection[str] | None = None,
    name: str | None = None,
    sizes: bool = False,
) -> JudgedRun:
    """Return every query of *truth* with the ranks and grades of the hits of *run*.

    *truth* is a Dataset or ``{query: {document: grade}}``; *run* is a Run, or scores by document as
    ``{query: {document: score}}`` or a stream of such pairs, which is read once and not copied. A
    query that the run lacks is MISSING, one without a positive grade UNJUDGED. *ties* None is the
    rule of the run itself. Paths below *root* become relative. From the paths of the run, the first
    matching *strip_prefix* is removed, and everything from the last *cut_at*. *known* has the
    normalised paths of the corpus; a hit elsewhere is invalid. With *sizes*, queries whose targets
    have no lines have the tokens of their hits as well, if any hit of the run has them.

    >>> judged = judge({"q1": {"a": 1}}, {"q1": {"b": 2.0, "a": 1.0}, "q9": {"a": 1.0}})
    >>> judged.queries[0].ranks, judged.unknown_queries
    ([2], ('q9',))
    """
    ties = tie_policy(ties, run)
    if depth is not None and depth < 1:
        raise InputError(f"depth {depth} is below 1")
    default = truth.match if isinstance(truth, Dataset) else "document"
    matcher = MATCHERS.get(match or default)(min_overlap=min_overlap)
    if not isinstance(truth, Dataset) and matcher.name != "document":
        truth = _as_dataset(truth)
    how = _Judge(
        matcher,
        ties=ties,
        judged_only=judged_only,
        depth=depth,
        root=root,
        strip_prefix=tuple(strip_prefix),
        cut_at=cut_at,
        known=known,
        queries=len(truth),
        sizes=sizes and isinstance(run, Run) and (not run.tokens or max(run.tokens) >= 0),
    )
    if isinstance(truth, Dataset) and truth.subtopics and not isinstance(run, Run):
        run = _as_run(run)  # read twice
    if isinstance(run, Run):
        how.answers(truth, run)
    elif matcher.by_id:
        how.rankings(truth, run)
    else:
        how.answers(truth, _as_run(run))
    query_ids = truth.query_ids if isinstance(truth, Dataset) else tuple(truth)
    queries = []
    statuses = []
    for row, query_id in enumerate(query_ids):
        judged = how.judged.get(query_id)
        status = how.failed.get(query_id, QueryStatus.SCORED)
        if judged is None:
            judged, status = how.empty(truth, query_id, row), QueryStatus.MISSING
        if not judged.ideal or judged.ideal[0] <= 0:
            status = QueryStatus.UNJUDGED
        queries.append(judged)
        statuses.append(status)
    if isinstance(truth, Dataset) and truth.subtopics and isinstance(run, Run):
        traces = trace(
            truth,
            run,
            keep=0,
            match=match,
            ties=ties,
            judged_only=judged_only,
            depth=depth,
            min_overlap=min_overlap,
            root=root,
            strip_prefix=strip_prefix,
            cut_at=cut_at,
        )
        queries = [
            _with_subtopics(judged, truth.targets(row), traces[row].ranks)
            for row, judged in enumerate(queries)
        ]
    return JudgedRun(
        name=name or (run.name if isinstance(run, Run) else "run"),
        query_ids=query_ids,
        queries=tuple(queries),
        statuses=tuple(statuses),
        ties=ties,
        invalid=dict(+how.invalid),
        unknown_queries=tuple(how.unknown),
        answered=len(how.judged),
        any_hits=how.any_hits,
        mismatch=how.mismatch(truth),
    )


def _with_subtopics(
    judged: JudgedQuery, targets: Sequence[Target], ranks: Sequence[int]
) -> JudgedQuery:
    """Return *judged* with the subtopics of its targets; *ranks* has the rank of each target."""
    pairs = [(each, rank) for each, rank in zip(targets, ranks, strict=True) if each.grade > 0]
    names = sorted({name for target, _ in pairs for name in target.subtopics})
    if not names:
        return judged
    code_of = {name: code for code, name in enumerate(names)}
    codes: dict[str, set[int]] = {}
    ranked: dict[int, set[int]] = {}
    for number, (target, rank) in enumerate(pairs):
        own = {code_of[name] for name in target.subtopics}
        # Two targets of one document are one hit; parts of a file are several.
        part = f" {number}" if target.start_line or target.symbol else ""
        codes.setdefault(f"{target.path}{part}", set()).update(own)
        if rank:
            ranked.setdefault(rank, set()).update(own)
    return judged.with_subtopics(
        Subtopics(
            {rank: tuple(sorted(own)) for rank, own in sorted(ranked.items())},
            [tuple(sorted(codes[path])) for path in sorted(codes, reverse=True)],
            len(names),
        )
    )


class Spellings:
    """Paths in the form that is compared, each computed once."""

    def __init__(self, spell: Callable[[str], str]) -> None:
        """Compute with *spell*."""
        self._spell = spell
        self._known: dict[str, str] = {}

    def hits(self, hits: Iterable[Hit]) -> list[Hit]:
        """Return *hits* with their paths in that form."""
        return [self._hit(hit) for hit in hits]

    def _hit(self, hit: Hit) -> Hit:
        path = self._known.get(hit.path)
        if path is None:
            path = self._known[hit.path] = self._spell(hit.path)
        return hit if path == hit.path else hit._replace(path=path)


class _Judge:
    """The settings and the results so far of one call of ``judge``."""

    def __init__(
        self,
        matcher: Matcher,
        *,
        ties: str,
        judged_only: bool,
        depth: int | None,
        root: str,
        strip_prefix: tuple[str, ...],
        cut_at: str,
        known: Collection[str] | None,
        queries: int = 0,
        sizes: bool = False,
    ) -> None:
        self.matcher = matcher
        self.sizes = sizes
        self.ties = ties
        self.judged_only = judged_only
        self.depth = depth
        self.root = root
        self.strip_prefix = strip_prefix
        self.cut_at = cut_at
        self.known = known
        self.invalid: Counter[str] = Counter()
        self.judged: dict[str, JudgedQuery] = {}
        self.failed: dict[str, QueryStatus] = {}
        self.unknown: list[str] = []
        self.any_hits = False
        self.spellings = Spellings(self.uncut)
        self.unmatched = MismatchCounts()
        # In the other modes a name may be a part of a path, or a pattern.
        self.near = NearMisses(queries) if matcher.name in WHOLE_NAMES else None

    def path(self, path: str) -> str:
        return self.matcher.spelled(path, self.root)

    def uncut(self, path: str) -> str:
        """Return the path of a hit in the form that is compared, with its chunk suffix."""
        return self.path(without_prefix(path, self.strip_prefix))

    def rankings(self, truth: Truth, run: Scored) -> None:
        """Judge scores by document id."""
        judgments = self.judgments(truth)
        as_they_are = self.matcher.name == "document" and not (
            self.known is not None or self.strip_prefix or self.cut_at
        )
        for query_id, scores in run.items() if isinstance(run, Mapping) else run:
            grades = judgments.get(query_id)
            if grades is None:
                self.unknown.append(query_id)
                continue
            # A reader may have dropped hits, such as duplicates.
            self.invalid.update(getattr(scores, "invalid", EMPTY))
            ranking = scores if as_they_are else self.scored(scores)
            judged = self.locate(grades, ranking)
            self.add(query_id, judged)
            self.any_hits = self.any_hits or bool(ranking)
            if self.near and ranking and judged.ideal and judged.ideal[0] > 0:
                self.near.add(query_id, partial(_unfound, grades, ranking), scores)
            if judged.ranks:
                self.unmatched.answered += 1
            elif scores and judged.ideal and judged.ideal[0] > 0:
                self.unmatched.add(query_id, partial(_as_targets, grades), scores)

    def add(self, query_id: str, judged: JudgedQuery) -> None:
        """Store *judged*; a second answer to one query is an error."""
        if query_id in self.judged:
            raise InputError(f"query {query_id!r} is answered more than once")
        self.judged[query_id] = judged

    def scored(self, scores: Mapping[str, float]) -> Mapping[str, float]:
        """Return *scores* by normalised path; of two spellings, the higher score."""
        best: dict[str, float] = {}
        for path, score in scores.items():
            spelling = cut_path(self.uncut(path), self.cut_at)
            if self.known is not None and self.path(spelling) not in self.known:
                self.invalid["unknown file"] += 1
                continue
            best[spelling] = max(score, best.get(spelling, score))
        return best

    def locate(self, judgments: Mapping[str, float], scores: Mapping[str, float]) -> JudgedQuery:
        try:
            return judge_ranking(
                judgments,
                scores,
                ties=self.ties,
                judged_only=self.judged_only,
                depth=self.depth,
            )
        except NonFiniteScore:
            finite = {document: score for document, score in scores.items() if isfinite(score)}
            self.invalid["non-finite score"] += len(scores) - len(finite)
            return self.locate(judgments, finite)

    def judgments(self, truth: Truth) -> Mapping[str, Mapping[str, float]]:
        """Return path -> grade by query; of several targets in one file, the best grade."""
        if not isinstance(truth, Dataset):
            return truth
        if self.matcher.name == "document":
            return {query_id: truth.judgments(row) for row, query_id in enumerate(truth.query_ids)}
        return {
            query_id: _best_grades(self.targets(truth, query_id, row))
            for row, query_id in enumerate(truth.query_ids)
        }

    @staticmethod
    def raw_targets(truth: Truth, query_id: str, row: int) -> list[Target]:
        """Return the targets of one query as they are in the dataset."""
        return truth.targets(row) if isinstance(truth, Dataset) else _as_targets(truth[query_id])

    def targets(self, truth: Truth, query_id: str, row: int) -> list[Target]:
        """Return the targets of one query with normalised paths; an empty pattern is an error."""
        targets = [
            target._replace(path=self.path(target.path))
            for target in self.raw_targets(truth, query_id, row)
        ]
        for target in targets:
            if not target.path and not (target.symbol and self.matcher.by_symbol):
                problem = "neither path nor symbol" if self.matcher.by_symbol else "no path"
                raise InputError(
                    f"query {query_id!r} has a target with {problem}, "
                    f"which the mode {self.matcher.name!r} cannot match"
                )
        return targets

    def answers(self, truth: Truth, run: Run) -> None:
        """Judge answers hit by hit."""
        query_ids = truth.query_ids if isinstance(truth, Dataset) else tuple(truth)
        row_of = {query_id: row for row, query_id in enumerate(query_ids)}
        for answer in run.answers():
            row = row_of.get(answer.query_id)
            if row is None:
                self.unknown.append(answer.query_id)
                continue
            status = OUTCOME_STATUS[answer.outcome]
            if status is not QueryStatus.SCORED:
                self.failed[answer.query_id] = status
            hits = self.hits(answer) if status is QueryStatus.SCORED else []
            targets = self.targets(truth, answer.query_id, row)
            if isinstance(truth, Dataset):
                hits = with_alternatives(hits, targets, truth.extras[row], self.matcher)
            self.add(answer.query_id, self.judged_answer(hits, targets))
            judged = self.judged[answer.query_id]
            self.any_hits = self.any_hits or bool(hits)
            relevant = bool(hits) and any(t.path and t.grade > 0 for t in targets)
            if self.near and relevant:
                missed = partial(self.unfound, self.raw_targets(truth, answer.query_id, row), hits)
                self.near.add(answer.query_id, missed, answer.hits)
            if judged.ranks:
                self.unmatched.answered += 1
            elif relevant:
                self.unmatched.add(
                    answer.query_id,
                    partial(self.raw_targets, truth, answer.query_id, row),
                    answer.hits,
                )

    def judged_answer(self, hits: Sequence[Hit], targets: Sequence[Target]) -> JudgedQuery:
        """Return the judged query of valid *hits*."""
        if not matches_by_id(targets, self.matcher):
            return judge_hits(
                hits,
                targets,
                self.matcher,
                ties=self.ties,
                judged_only=self.judged_only,
                depth=self.depth,
                sizes=self.sizes,
            )
        grades = _best_grades(targets)
        best_first, scores = order_hits(hits, [0.0] * len(hits), "order")
        units: dict[str, float] = {}
        for hit, score in zip(best_first, scores, strict=True):
            units.setdefault(hit.path, score)
        judged = self.locate(grades, units)
        if not self.sizes or (judged.tied and self.ties == "expected"):
            return judged
        return judged.with_sizes(self.sizes_of_files(hits, grades))

    def sizes_of_files(self, hits: Sequence[Hit], grades: Mapping[str, float]) -> Sizes:
        """Return what a reader of *hits* reads until each file is first returned."""
        if self.judged_only:
            hits = [hit for hit in hits if grades.get(hit.path, -1.0) >= 0]
        values = [grades.get(hit.path, -inf) for hit in hits]
        return sizes_of_files(order_hits(hits, values, self.ties)[0])

    def unfound(self, targets: Sequence[Target], hits: Sequence[Hit]) -> Iterator[Target]:
        """Yield the relevant ones of *targets* whose path no hit has."""
        hit_paths = {hit.path for hit in hits}
        for target in targets:
            if target.path and target.grade > 0 and self.path(target.path) not in hit_paths:
                yield target

    def mismatch(self, truth: Truth) -> Mismatch | None:
        """Return the mismatch of most names, or of a part of them."""
        mismatch = self.unmatched.mismatch(
            self.matcher, tried=self.tried, targets=_target_paths(truth)
        )
        if not self.near or (mismatch and (mismatch.sure or mismatch.options or mismatch.advice)):
            return mismatch
        near = self.near.mismatch(
            by_id=self.matcher.name == "document", tried=self.tried, targets=_target_paths(truth)
        )
        if mismatch and near and near.queries * 2 > near.answered:
            # Not a bad engine: most queries have a target in another spelling.
            near = replace(
                near, queries=mismatch.queries, answered=mismatch.answered, sure=True, partly=False
            )
        return near or mismatch

    def hits(self, answer: Answer) -> list[Hit]:
        """Return the answer's valid hits with normalised paths."""
        hits = self.spellings.hits(answer.hits)
        return valid_hits(hits, self.invalid, self.known, cut_at=self.cut_at)

    def tried(self, repair: Repair, samples: Sequence[QuerySample]) -> list[bool]:
        """Return for each of *samples* whether a hit is on a relevant target with *repair*."""
        matcher = MATCHERS.get(repair.match)() if repair.match else self.matcher
        how = _Judge(
            matcher,
            ties="order",
            judged_only=False,
            depth=None,
            root=repair.root or self.root,
            strip_prefix=(repair.strip_prefix,) if repair.strip_prefix else self.strip_prefix,
            cut_at=repair.cut_at or self.cut_at,
            known=None,
        )
        truth = Dataset.of(sample.query for sample in samples)
        how.answers(truth, Run.of(Answer(query.id, hits) for query, hits in samples))
        return [bool(how.judged[query.id].relevant()) for query, _ in samples]

    def empty(self, truth: Truth, query_id: str, row: int) -> JudgedQuery:
        """Return the judged query of a missing answer."""
        targets = self.targets(truth, query_id, row)
        return self.judged_answer([], targets)


def _unfound(grades: Mapping[str, float], ranking: Mapping[str, float]) -> Iterator[Target]:
    """Yield the relevant targets that *ranking* lacks."""
    for path, grade in grades.items():
        if grade > 0 and path not in ranking:
            yield Target(path, grade)


def _as_targets(grades: Mapping[str, float]) -> list[Target]:
    return [Target(path, grade) for path, grade in grades.items()]


def _target_paths(truth: Truth) -> Iterator[str]:
    """Yield the path of every relevant target, lazily."""
    if isinstance(truth, Dataset):
        rows: Iterable[list[Target]] = map(truth.targets, range(len(truth)))
    else:
        rows = map(_as_targets, truth.values())
    for row in rows:
        yield from (target.path for target in row if target.path and target.grade > 0)


def _best_grades(targets: Iterable[Target]) -> dict[str, float]:
    best: dict[str, float] = {}
    for target in targets:
        best[target.path] = max(target.grade, best.get(target.path, target.grade))
    return best


def _as_dataset(truth: Mapping[str, Mapping[str, float]]) -> Dataset:
    """Return grades by path as a Dataset, for modes that compare paths."""
    return Dataset.of(
        Query(query_id, "", tuple(_as_targets(grades))) for query_id, grades in truth.items()
    )


def _as_run(scored: Scored) -> Run:
    """Return scores by document as a Run, for modes that compare paths."""
    pairs = scored.items() if isinstance(scored, Mapping) else scored
    return Run.of(
        Answer(query_id, tuple(Hit(path, score) for path, score in scores.items()))
        for query_id, scores in pairs
    )


BY_LUCK = ("best", "worst", "expected")


def trace(
    truth: Dataset,
    run: Run,
    *,
    keep: int,
    match: str | None = None,
    ties: str | None = None,
    judged_only: bool = False,
    depth: int | None = None,
    min_overlap: float = 0.0,
    root: str = "",
    strip_prefix: Sequence[str] = (),
    cut_at: str = "",
) -> tuple[Trace, ...]:
    """Return one trace for each query of *truth*, with the first *keep* hits of *run*.

    A query without an answer, or with an error or a timeout, has no hits. Under the tie policy
    ``expected``, whose scores belong to no single order, relevant hits come first in a tie.

    >>> from karat.model import Query
    >>> gold = Dataset.of([Query("q1", "log in", (Target("auth.py"), Target("user.py")))])
    >>> run = Run.of([Answer("q1", (Hit("main.py", 2.0), Hit("./auth.py", 1.0)))])
    >>> trace(gold, run, keep=10)[0].ranks
    (2, 0)
    """
    ties = tie_policy(ties, run)
    matcher = MATCHERS.get(match or truth.match)(min_overlap=min_overlap)
    answers = {query_id: row for row, query_id in enumerate(run.query_ids)}
    spellings = Spellings(lambda path: matcher.spelled(without_prefix(path, strip_prefix), root))
    traces = []
    for row, query_id in enumerate(truth.query_ids):
        targets = [
            target._replace(path=matcher.spelled(target.path, root))
            for target in truth.targets(row)
        ]
        hits: list[Hit] = []
        if query_id in answers:
            answer = run.answer(answers[query_id])
            returned = answer.hits if answer.outcome is Outcome.ANSWERED else ()
            hits = valid_hits(spellings.hits(returned), Counter(), cut_at=cut_at)
            hits = with_alternatives(hits, targets, truth.extras[row], matcher)
        if matches_by_id(targets, matcher):
            matched = _matched_by_id(hits, targets, ties, judged_only=judged_only, depth=depth)
        else:
            counted = query_targets(targets, matcher)
            ranked = rank_hits(
                hits, counted, matcher, ties=ties, judged_only=judged_only, depth=depth
            )
            matched = _matched(ranked, counted, targets)
        traces.append(_traced(matched, len(targets), keep))
    return tuple(traces)


def _matched(
    ranked: RankedHits, counted: QueryTargets, targets: Sequence[Target]
) -> list[tuple[Hit, list[int]]]:
    """Return each hit with the indexes of the targets that it covers, the most specific first.

    A hit that matches only a symbol has that symbol first, then the target that it stands for.
    """
    symbol_of = {symbol.symbol.lower(): index for index, symbol in enumerate(counted.symbols)}
    matched = []
    for hit, credits, own, symbols in zip(
        ranked.hits, ranked.credits, ranked.own, ranked.symbols, strict=True
    ):
        covered = [n for n, index in enumerate(counted.positions) if index >= 0 and credits[index]]
        named = [
            number
            for number, index in enumerate(counted.positions)
            if index < 0 and symbols[symbol_of[targets[number].symbol.lower()]]
        ]
        matched.append((hit, covered + named if any(own) else named + covered))
    return matched


def _matched_by_id(
    hits: Sequence[Hit],
    targets: Sequence[Target],
    ties: str,
    *,
    judged_only: bool,
    depth: int | None,
) -> list[tuple[Hit, list[int]]]:
    """Return the first hit of each path with the indexes of the targets at that path.

    The ranking is cut at *depth* before unjudged hits are dropped, as in trec_eval.
    """
    numbers: dict[str, list[int]] = {}
    for number, target in enumerate(targets):
        numbers.setdefault(target.path, []).append(number)
    judged = {target.path for target in targets if target.grade >= 0}
    ranked = _ranked_by_id(hits, targets, ties)[:depth]
    return [
        (hit, numbers.get(hit.path, [])) for hit in ranked if not judged_only or hit.path in judged
    ]


def _ranked_by_id(hits: Sequence[Hit], targets: Sequence[Target], ties: str) -> list[Hit]:
    """Return the first hit of each id, in the order in which `judge` counts scores."""
    units: dict[str, tuple[Hit, float]] = {}
    for hit, score in zip(*order_hits(hits, [0.0] * len(hits), "order"), strict=True):
        units.setdefault(hit.path, (hit, as_float32(score) if ties == "trec9" else score))
    order = list(units)
    if ties in BY_LUCK:
        grade: dict[str, float] = {}
        for target in targets:
            grade[target.path] = max(target.grade, grade.get(target.path, target.grade))
        order.sort(key=lambda path: grade.get(path, -inf), reverse=ties != "worst")
    elif ties != "order":
        order.sort(reverse=True)
    order.sort(key=lambda path: units[path][1], reverse=True)
    return [units[path][0] for path in order]


def _traced(ranked: Sequence[tuple[Hit, list[int]]], targets: int, keep: int) -> Trace:
    ranks = [0] * targets
    matched = [-1] * min(keep, len(ranked))
    for rank, (_, numbers) in enumerate(ranked, 1):
        if numbers and rank <= keep:
            # Of several targets, a hit reports the one that it is the first to cover.
            matched[rank - 1] = next((n for n in numbers if not ranks[n]), numbers[0])
        for number in numbers:
            ranks[number] = ranks[number] or rank
    hits = tuple(hit for hit, _ in ranked[:keep])
    return Trace(hits, tuple(matched), tuple(ranks), len(ranked))
