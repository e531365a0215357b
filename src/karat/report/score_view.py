"""Tables of one scored run."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import isnan
from typing import TYPE_CHECKING

from karat.model import Outcome, QueryStatus
from karat.model.evaluation import CARRY_ADVICE, Evaluation, Notes, Summary, broken_sentences
from karat.model.run import AS_RETURNED
from karat.report.display import printable, shorten
from karat.report.table import DIGITS, Cell, Column, Table, number, range_cell
from karat.system.words import first_line

if TYPE_CHECKING:
    from karat.model.coverage import CorpusCoverage
    from karat.model.timings import RunResult


FAILED = (QueryStatus.MISSING, QueryStatus.ERROR, QueryStatus.TIMEOUT)
# The share of queries from which a note on equal scores is not left to the details.
MANY_TIED = 0.05
BEST_NOTE = "* significantly better than all others"
TEXT_WIDTH = 48
ERROR_WIDTH = 240


def score_table(evaluation: Evaluation) -> Table:
    """Return one row per measure: mean, interval, mean over answered queries if it differs, n."""
    table = _summary_table(
        f"{evaluation.name}, {queries(evaluation.notes.queries)}",
        evaluation.reportable().summaries,
        tuple(note_lines(evaluation)),
        answered=_answered_differs(evaluation),
    )
    return replace(table, conclusion=" ".join(broken_sentences([evaluation])))


def slice_tables(evaluation: Evaluation) -> list[Table]:
    """Return one table per tag value, of many values the largest."""
    tables = []
    differs = _answered_differs(evaluation)
    for tag, values in evaluation.reportable().slices.items():
        sizes = {value: summaries[0].n for value, summaries in values.items()}
        largest, note = largest_slices(tag, sizes)
        tables += [
            _summary_table(f"{tag} = {value}", values[value], (), answered=differs)
            for value in largest
        ]
        tables[-1] = replace(tables[-1], notes=note)
    return tables


def per_query_table(evaluation: Evaluation, texts: Mapping[str, str]) -> Table:
    """Return one row per query: id, status, every measure and the query's text."""
    from karat.report.rows import query_rows  # only --per-query shows queries

    reportable = evaluation.reportable()
    rows = [
        (
            Cell(row.query, row.query),
            Cell(row.status, row.status),
            *map(number, row.scores),
            text_cell(texts.get(row.query, "")),
        )
        for row in query_rows(reportable)
    ]
    return Table(
        "",
        (
            Column("query"),
            Column("status", spare=1),
            *(Column(name, numeric=True) for name in reportable.table.columns),
            Column("text", spare=2),
        ),
        tuple(rows),
    )


MOST_WORST = 5


def worst_table(evaluation: Evaluation, texts: Mapping[str, str]) -> Table:
    """Return the queries with the lowest scores on the first measure, with their texts."""
    table = evaluation.reportable().table
    measure, column = next(iter(table.columns.items()))
    scored = [row for row, score in enumerate(column) if not isnan(score)]
    worst = sorted(scored, key=column.__getitem__)[:MOST_WORST]
    return Table(
        f"{evaluation.name}, the worst of {queries(len(scored))}",
        (Column("query"), Column(measure, numeric=True), Column("text", spare=1)),
        tuple(
            (
                Cell(table.query_ids[row], table.query_ids[row]),
                number(column[row], digits=DIGITS),
                text_cell(texts.get(table.query_ids[row], "")),
            )
            for row in worst
        ),
    )


def text_cell(text: str) -> Cell:
    """Return a query's text, cut to what a table has room for."""
    return Cell(shorten(printable(text), TEXT_WIDTH), text)


def note_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield the notes below the numbers, one sentence per line."""
    yield _status_line(evaluation)
    yield from _detail_lines(evaluation)
    if evaluation.notes.powered:
        yield evaluation.notes.powered


def shared_note_lines(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """Yield the notes on several runs; a note that is true of all of them comes once."""
    if any(failures(each) for each in evaluations):
        for each in evaluations:
            yield f"{each.name}: {_status_line(each)}"
    else:
        count = queries(evaluations[0].notes.queries)
        invalid = ", 0 invalid hits" if evaluations[0].notes.has_hits else ""
        yield f"every run: {count}: 0 missing, 0 errors, 0 timeouts{invalid}"
        yield from _judged_lines(evaluations)
    yield from said_once({each.name: list(_detail_lines(each)) for each in evaluations})


def said_once(lines: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """Yield the lines on each run with its name; those of all runs come first, and once.

    >>> list(said_once({"a": ["ties", "slow"], "b": ["ties"]})), list(said_once({"a": ["ties"]}))
    (['every run: ties', 'a: slow'], ['ties'])
    """
    if len(lines) == 1:
        yield from next(iter(lines.values()))
        return
    first, *rest = lines.values()
    common = [line for line in first if all(line in others for others in rest)]
    yield from (f"every run: {line}" for line in common)
    for name, own in lines.items():
        yield from (f"{name}: {line}" for line in own if line not in common)


def decisive_lines(evaluation: Evaluation) -> Iterator[str]:
    """Yield only the notes without which the scores of a run would be misread."""
    if text := failures(evaluation):
        yield text
    yield from _reading_lines(evaluation, least_tied=MANY_TIED)


def _judged_lines(evaluations: Sequence[Evaluation]) -> Iterator[str]:
    """Yield how many of the first hits of each run are judged."""
    shares = {each.name: each.notes.judged_share for each in evaluations}
    known = {name: share for name, share in shares.items() if not isnan(share)}
    if not known:
        return
    effect = " (unjudged hits count as not relevant)" if min(known.values()) < 1 else ""
    parts = ", ".join(f"{name} {share:.0%}" for name, share in known.items())
    yield f"judged among the first 10 hits: {parts}{effect}"


def failures(evaluation: Evaluation) -> str:
    """Return how many queries failed and hits are invalid, "" without any."""
    notes = evaluation.notes
    failed = [text for text in _failed_counts(notes) if not text.startswith("0 ")]
    parts = [f"{', '.join(failed)}{_effect(evaluation)}"] if failed else []
    return ", ".join([*parts, *([invalid_text(notes)] if notes.invalid else [])])


def _failed_counts(notes: Notes) -> list[str]:
    missing, errors, timeouts = (notes.statuses[status] for status in FAILED)
    return [f"{missing} missing", _count(errors, "error"), _count(timeouts, "timeout")]


def _effect(evaluation: Evaluation) -> str:
    """Return what becomes of queries that failed, "" where none did."""
    if not any(evaluation.notes.statuses[status] for status in FAILED):
        return ""
    return " (left out)" if _left_out(evaluation, FAILED) else " (each counts 0)"


def _status_line(evaluation: Evaluation) -> str:
    """Return how many queries failed, how many hits are invalid, and how many are judged."""
    notes = evaluation.notes
    share = ""
    if not isnan(notes.judged_share):
        share = f"; {notes.judged_share:.0%} of the first 10 hits are judged"
        if notes.judged_share < 1:
            share += " (unjudged hits count as not relevant)"
    failed = f"{', '.join(_failed_counts(notes))}{_effect(evaluation)}"
    hits = f", {invalid_text(notes)}{share}" if notes.has_hits else ""
    return f"{queries(notes.queries)}: {failed}{hits}"


def _detail_lines(evaluation: Evaluation) -> Iterator[str]:
    notes = evaluation.notes
    missing = _with_status(evaluation, (QueryStatus.MISSING,))
    if missing:
        names = _first_three([evaluation.table.query_ids[row] for row in missing])
        what = "of the gold set missing from the run" if notes.has_hits else "without a score"
        yield f"{queries(len(missing))} {what}: {names}"
    yield from _reading_lines(evaluation)
    yield from clusters_line(notes.queries, notes.clusters)


def _reading_lines(evaluation: Evaluation, *, least_tied: float = 0.0) -> Iterator[str]:
    """Yield how to read the scores; ties only where they affect that share of the queries."""
    notes = evaluation.notes
    counts = notes.statuses
    if notes.unit:
        yield notes.unit
    if notes.tokens:
        yield notes.tokens
    if notes.unknown_queries:
        names = _first_three(notes.unknown_queries)
        yield f"{queries(len(notes.unknown_queries))} of the run missing from the gold set: {names}"
    if counts[QueryStatus.UNJUDGED]:
        left_out = _left_out(evaluation, (QueryStatus.UNJUDGED,))
        effect = "left out of the means" if left_out else "count in the means"
        yield f"{queries(counts[QueryStatus.UNJUDGED])} without a relevant target: {effect}"
    if notes.tied > least_tied * notes.queries and notes.ties != AS_RETURNED:
        yield (
            f"in {queries(notes.tied)} equal scores decide the rank of a hit that counts "
            f"(rule: {notes.ties}); --ties order keeps the order of the run"
        )
    # A doubtful use of labels is a warning before the table.
    if notes.labels and not notes.labels.is_doubtful:
        yield notes.labels.text


def invalid_text(notes: Notes) -> str:
    """Return how many hits are invalid and left out, with the reasons.

    >>> invalid_text(Notes(9, {}, {"not in the corpus": 3, "line below 1": 1}, (), "docid", 0, 0.5))
    '4 invalid hits left out (1 line below 1, 3 not in the corpus)'
    """
    count = _count(sum(notes.invalid.values()), "invalid hit")
    if not notes.invalid:
        return count
    reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(notes.invalid.items()))
    return f"{count} left out ({reasons})"


def clusters_line(count: int, clusters: int) -> Iterator[str]:
    """Yield the number of groups that are resampled; nothing if queries are independent."""
    if clusters:
        yield (
            f"{queries(count)} in {_count(clusters, 'group')} that belong together: intervals and "
            "tests resample whole groups"
        )


MOST_SLICES = 12


def largest_slices(tag: str, sizes: Mapping[str, int]) -> tuple[list[str], tuple[str, ...]]:
    """Return the values of *tag* to show, in their order, and a note on the others.

    >>> values, (note,) = largest_slices("repo", {f"r{n}": n for n in range(1, 41)})
    >>> len(values), note
    (12, 'repo: the 12 largest of 40 values; 406 queries have other values (--json has all)')
    """
    if len(sizes) <= MOST_SLICES:
        return list(sizes), ()
    largest = set(sorted(sizes, key=lambda value: -sizes[value])[:MOST_SLICES])
    others = sum(size for value, size in sizes.items() if value not in largest)
    note = (
        f"{tag}: the {MOST_SLICES} largest of {len(sizes)} values; {queries(others)} have other "
        "values (--json has all)"
    )
    return [value for value in sizes if value in largest], (note,)


def _with_status(evaluation: Evaluation, statuses: Sequence[QueryStatus]) -> list[int]:
    return [row for row, status in enumerate(evaluation.table.statuses) if status in statuses]


def _left_out(evaluation: Evaluation, statuses: Sequence[QueryStatus]) -> bool:
    """Return whether no query with one of *statuses* has a score; averaging decides that."""
    rows = _with_status(evaluation, statuses)
    return all(isnan(column[row]) for column in evaluation.table.columns.values() for row in rows)


def _first_three(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", ..." if len(names) > 3 else "")


def _answered_differs(evaluation: Evaluation) -> bool:
    """Return whether a mean over answered queries differs from the mean over all."""
    return any(
        summary.answered != summary.mean and not (isnan(summary.answered) and isnan(summary.mean))
        for summary in evaluation.reportable().summaries
    )


def _summary_table(
    title: str, summaries: Sequence[Summary], notes: tuple[str, ...], *, answered: bool
) -> Table:
    sure = any(summary.interval for summary in summaries)
    level = next((s.interval.level for s in summaries if s.interval), 0.95)
    columns = [Column("measure"), Column("mean", numeric=True)]
    if sure:
        columns.append(Column(level_title(level), numeric=True))
    if answered:
        columns.append(Column("mean answered", numeric=True))
    columns.append(Column("n", numeric=True))
    rows = []
    for summary in summaries:
        cells = [Cell(summary.measure, summary.measure), number(summary.mean)]
        if sure:
            cells.append(range_cell(summary.interval, digits=4))
        if answered:
            cells.append(number(summary.answered))
        cells.append(Cell(str(summary.n), summary.n))
        rows.append(tuple(cells))
    return Table(title, tuple(columns), tuple(rows), notes)


def level_title(level: float) -> str:
    """Return the heading of intervals at *level*.

    >>> level_title(0.95), level_title(0.999)
    ('95% interval', '99.9% interval')
    """
    return f"{level * 100:g}% interval"


def queries(count: int) -> str:
    """Return the number with its noun."""
    return f"{count} query" if count == 1 else f"{count} queries"


def _count(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"


SNAPSHOTS = {
    "parent": "each query on the version before its change (parent)",
    "base": "all queries on one version before all changes (base)",
    "head": "all queries on HEAD (head)",
    "generated": "all queries on the version that they were generated from",
    "masked": "all queries on the version that they were generated from",
    "carried": "each query on the version that the gold set was updated to, {revision}",
    "child": "each query on the version after its change (child)",
    "corpus": "all queries on the same documents",
}
KINDS = {"docs": "documentation", "code": "code"}
SHOWN_TARGETS = 5
# The share of missing targets from which a warning comes before the scores.
MANY_MISSING = 1 / 3
EVERYTHING = "all files, tests included"
TESTS = {"production": "without tests", "all": "tests included"}


def remarks(searched: "CorpusCoverage") -> Iterator[str]:
    """Yield what was searched and which targets are missing there, one sentence per line.

    >>> from karat.model.coverage import CorpusCoverage
    >>> for line in remarks(CorpusCoverage("parent", "r", "production", 250, 24, 31, 400, 0, 0)):
    ...     print(line)
    searched: each query on the version before its change (parent), 250 versions of 24 to 31
    documents
    candidates: all files, without tests
    all 400 targets exist in the searched versions
    >>> list(remarks(CorpusCoverage("corpus", "docs", "all", 1, 12, 12, 17, 0, 0)))
    ['searched: 12 documents in docs', 'all 17 targets exist in docs']
    """
    size = _range(searched.fewest, searched.most)
    # With several repositories, each commit has a name beside it and is short already.
    several = " " in searched.revision
    revision = searched.revision if several else searched.revision[:12]
    where = SNAPSHOTS[searched.snapshot].format(revision=revision)
    masked = ", their texts masked" if searched.masked else ""
    chosen = _candidates(searched)
    if searched.snapshot == "corpus":
        hidden = ", the texts of the queries masked" if searched.masked else ""
        yield f"searched: {size} document{'' if size == '1' else 's'} in {searched.place}{hidden}"
    else:
        yield f"searched: {where}{masked}, {_trees(searched.trees)} of {size} documents"
    # All files of a corpus are what a user expects.
    if searched.snapshot != "corpus" or chosen != EVERYTHING:
        yield f"candidates: {chosen}"
    if searched.unresolved:
        some_left = searched.unresolved < searched.targets
        yield missing_targets(searched) + ("; the table below excludes them" if some_left else "")
        if searched.missing:
            yield f"not in {searched_place(searched)}: {_missing_names(searched)}"
    else:
        plural = "" if searched.snapshot == "corpus" else "s"
        many = searched.targets != 1
        subject = f"all {searched.targets:,} targets exist" if many else "the only target exists"
        yield f"{subject} in {searched_place(searched)}{plural}"
    yield from left_out_targets(searched)


def decisive_remarks(searched: "CorpusCoverage") -> Iterator[str]:
    """Yield in one line each how many targets are missing, and how many were not searched.

    >>> from dataclasses import replace
    >>> from karat.model.coverage import CorpusCoverage
    >>> searched = CorpusCoverage("corpus", "docs", "all", 1, 9, 9, 8, 2, 1)
    >>> list(decisive_remarks(replace(searched, missing=("x.md", "y.md"))))
    ['2 of 8 targets do not exist in docs: x.md and 1 more; they count as missed']
    """
    if searched.unresolved:
        named = _and_more([_missing_name(searched, path) for path in searched.missing])
        verb, they = _agreeing(searched.unresolved, "does not exist", "do not exist")
        verb = f"{verb} in {searched_place(searched)}"
        yield f"{_of_targets(searched, searched.unresolved)} {verb}{named}; {they} as missed"
    if searched.left_out:
        reasons = searched.skipped_targets.items()
        named = _and_more([f"{path} is {reason}" for path, reason in reasons])
        verb, they = _agreeing(searched.left_out, "is not searched", "are not searched")
        yield f"{_of_targets(searched, searched.left_out)} {verb}{named}; {they} as missed"


def _agreeing(count: int, one: str, several: str) -> tuple[str, str]:
    return (one, "it counts") if count == 1 else (several, "they count")


def _of_targets(searched: "CorpusCoverage", count: int) -> str:
    return f"{count:,} of {searched.targets:,} targets"


def _and_more(names: Sequence[str]) -> str:
    """Return the first name after a colon, and how many others there are; "" without any."""
    if not names:
        return ""
    return f": {names[0]}" + (f" and {len(names) - 1:,} more" if len(names) > 1 else "")


def left_out_targets(searched: "CorpusCoverage") -> Iterator[str]:
    """Yield how many targets exist and are not searched, and the reasons of the first ones.

    >>> from dataclasses import replace
    >>> from karat.model.coverage import CorpusCoverage
    >>> searched = CorpusCoverage("corpus", ".", "all", 1, 9, 9, 8, 0, 0)
    >>> reasons = {"a.py": "of another kind; --kind all includes it"}
    >>> for line in left_out_targets(replace(searched, skipped_targets=reasons, left_out=1)):
    ...     print(line)
    1 of 8 targets exists, is not searched and counts as missed
    not searched: a.py is of another kind; --kind all includes it
    """
    count = searched.left_out
    if not count:
        return
    verbs = "exists, is not searched and counts" if count == 1 else None
    verbs = verbs or "exist, are not searched and count"
    yield f"{count:,} of {searched.targets:,} targets {verbs} as missed"
    for path, reason in list(searched.skipped_targets.items())[:SHOWN_TARGETS]:
        yield f"not searched: {path} is {reason}"
    if (more := len(searched.skipped_targets) - SHOWN_TARGETS) > 0:
        yield f"{more:,} further targets that exist are not searched (--json lists all)"


def _missing_names(searched: "CorpusCoverage") -> str:
    """Return the first missing targets, each with what it probably means."""
    return _first_three([_missing_name(searched, path) for path in searched.missing])


def _missing_name(searched: "CorpusCoverage", path: str) -> str:
    hint = searched.suggestions.get(path)
    return f"{path} ({hint})" if hint else path


def missing_targets(searched: "CorpusCoverage") -> str:
    """Return a sentence on targets that do not exist in the searched versions, "" without any.

    >>> from karat.model.coverage import CorpusCoverage
    >>> missing_targets(CorpusCoverage("corpus", ".", "all", 1, 9, 9, 8, 2, 1))
    'targets: 2 of 8 targets (25.0%) do not exist in . (1 query with no other) and count as missed'
    """
    if not searched.unresolved:
        return ""
    lost = f" ({queries(searched.lost_queries)} with no other)" if searched.lost_queries else ""
    where = searched_place(searched)
    count = "counts" if searched.unresolved == 1 else "count"
    return f"targets: {_gone(searched)} in {where}{lost} and {count} as missed"


def searched_place(searched: "CorpusCoverage") -> str:
    """Return where targets were looked for: a folder, or versions of a repository."""
    return searched.place if searched.snapshot == "corpus" else "the searched version"


def kind_notice(searched: "CorpusCoverage") -> str:
    """Return a line on a kind of file that the gold set declares, "" if it declares none.

    >>> from dataclasses import replace
    >>> from karat.model.coverage import CorpusCoverage
    >>> searched = CorpusCoverage("corpus", "r", "all", 1, 8, 8, 9, 0, 0)
    >>> kind_notice(replace(searched, kind="code", kind_from="dataset", other_kind=1_200))
    'the gold set is for code: 1,200 other files are not searched (--kind all includes them)'
    """
    if searched.kind_from != "dataset":
        return ""
    one = searched.other_kind == 1
    files, them = ("file is", "it") if one else ("files are", "them")
    return (
        f"the gold set is for {KINDS[searched.kind]}: {searched.other_kind:,} other {files} not "
        f"searched (--kind all includes {them})"
    )


def _candidates(searched: "CorpusCoverage") -> str:
    """Return the files to search in words."""
    kind = KINDS.get(searched.kind, "all files")
    if searched.kind in KINDS:
        kind += " (--kind)" if searched.kind_from == "option" else " (declared by the gold set)"
    text = f"{kind}, {TESTS[searched.candidates]}"
    for word, patterns in (("only", searched.include), ("without", searched.exclude)):
        text += f"; {word} {', '.join(patterns)}" if patterns else ""
    return text


def warning(searched: "CorpusCoverage") -> str:
    """Return why scores on these snapshots are misleading, "" if they are not."""
    if searched.snapshot == "head":
        return (
            f"HEAD is not the version that the queries refer to: {_gone(searched)} there, and the "
            "rest may already contain the answer; use --snapshot parent; "
            f"{CARRY_ADVICE}"
        )
    if searched.snapshot == "child":
        return (
            "the version after a change contains its answer, so these scores are too high; use "
            "--snapshot parent for real scores"
        )
    many = searched.unresolved >= searched.targets * MANY_MISSING
    if searched.snapshot == "corpus" and searched.missing and many:
        hint = f"; {searched.hint}" if searched.hint else ""
        count = "counts" if searched.unresolved == 1 else "count"
        return (
            f"{_gone(searched)} in {searched.place} and {count} as missed: "
            f"{_missing_names(searched)}{hint}"
        )
    return ""


def run_remarks(runs: "Sequence[RunResult]", trees: int, *, indexed: bool = True) -> Iterator[str]:
    """Yield the work of indexing *trees* for the *runs*, and problems of their answers.

    Without *indexed*, the rows of an index are left out: each worker counts its own, so that they
    are no measure of one corpus.

    >>> from karat.model import Run
    >>> from karat.model.timings import RunResult
    >>> notes = {"work": {"rows": 5_000}, "unstable": ["q1"]}
    >>> for line in run_remarks([RunResult(Run.of([]), None, "", "bm25", notes)], 250):
    ...     print(line)
    work: bm25 indexed 5,000 rows for 250 versions (depends on how workers divide them)
    bm25: not deterministic: 1 query returned different hits when repeated: q1
    """
    # Engines in one process that have as many rows share them, and so does what is cut from the
    # answers of one engine.
    sharing: dict[tuple[object, ...], list[RunResult]] = {}
    for run in runs:
        if work := _work(run):
            together = run.notes.get("together")
            who = tuple(together) if isinstance(together, list) else run.engine
            sharing.setdefault((who, work.get("rows", 0)), []).append(run)
    for (_, rows), group in sharing.items():
        share = "indexed" if len(group) == 1 else "share an index of"
        names = ", ".join(run.name for run in group)
        if not indexed:
            yield from _embedding_work(group)
            continue
        # Each process indexes what its own trees share, and takes the next when it is free.
        varies = " (depends on how workers divide them)" if trees > 1 else ""
        yield f"work: {names} {share} {rows:,} rows for {_trees(trees)}{varies}{_embedded(group)}"
    for run in runs:
        if error := first_error(run):
            yield f"{error}; --run-out FILE.jsonl stores all"
        yield from odd_answers(run)


def first_error(measured: "RunResult") -> str:
    r"""Return the first line of the first error or timeout of a run, "" if there is none.

    >>> from karat.model import Answer, Run
    >>> from karat.model.timings import RunResult
    >>> failed = Answer("q2", (), Outcome.ERROR, extra={"error": "mine: exit code 1: bad\n  ..."})
    >>> first_error(RunResult(Run.of([Answer("q1"), failed]), None, "", "mine"))
    'mine: first error (query q2): exit code 1: bad'
    """
    run = measured.run
    for query_id, outcome, extra in zip(run.query_ids, run.outcomes, run.extras, strict=True):
        if outcome != Outcome.ANSWERED and (error := str(extra.get("error") or "")):
            text = first_line(error).removeprefix(f"{measured.name}: ")
            line = shorten(printable(text), ERROR_WIDTH)
            return f"{measured.name}: first error (query {query_id}): {line}"
    return ""


def odd_answers(measured: "RunResult") -> Iterator[str]:
    """Yield the queries whose hits differ between repetitions."""
    unstable = measured.notes.get("unstable")
    if isinstance(unstable, list) and unstable:
        listed = ", ".join(map(str, unstable[:3])) + (", ..." if len(unstable) > 3 else "")
        yield (
            f"{measured.name}: not deterministic: {queries(len(unstable))} returned different hits "
            f"when repeated: {listed}"
        )


def _counted_work(what: str, count: float) -> str:
    """Return one kind of work in words; the kinds that end in cost are US dollars.

    >>> _counted_work("contexts_reused", 12_000), _counted_work("context_cost", 0.00123456)
    ('12,000 contexts reused', 'context cost $0.001235')
    """
    name = what.replace("_", " ")
    if what.endswith("cost"):
        return f"{name} ${count:.4g}"
    return f"{count:,} {name}"


def _work(measured: "RunResult") -> Mapping[str, float]:
    work = measured.notes.get("work")
    return work if isinstance(work, Mapping) else {}


def _embedding_work(group: "Sequence[RunResult]") -> Iterator[str]:
    """Yield the work of *group* without the rows of its index; nothing if there is no other."""
    text = _embedded(group)
    if text.startswith("; "):
        yield f"work: {text.removeprefix('; ')}"
    elif text:
        yield f"work: {', '.join(run.name for run in group)}: {text.removeprefix(', ')}"


def _embedded(group: "Sequence[RunResult]") -> str:
    """Return what else than rows is counted, with the runs that it is said of if not of all."""
    said: dict[str, list[str]] = {}
    for run in group:
        counts = [(what, count) for what, count in _work(run).items() if what != "rows"]
        others = [_counted_work(what, count) for what, count in counts]
        said.setdefault(", ".join(others), []).append(run.name)
    parts = [
        f", {text}" if len(names) == len(group) else f"; {', '.join(names)}: {text}"
        for text, names in said.items()
        if text
    ]
    return "".join(parts)


def _trees(count: int) -> str:
    return f"{count:,} version{'' if count == 1 else 's'}"


def _gone(searched: "CorpusCoverage") -> str:
    return gone_text(searched.unresolved, searched.targets)


def gone_text(gone: int, targets: int) -> str:
    """Return how many of the *targets* do not exist, with their share.

    >>> gone_text(3, 1200), gone_text(1, 2)
    ('3 of 1,200 targets (0.2%) do not exist', '1 of 2 targets (50.0%) does not exist')
    """
    verb = "does" if gone == 1 else "do"
    share = gone / targets if targets else 0.0
    return f"{gone:,} of {targets:,} targets ({share:.1%}) {verb} not exist"


def _range(fewest: int, most: int) -> str:
    return f"{most:,}" if fewest == most else f"{fewest:,} to {most:,}"
