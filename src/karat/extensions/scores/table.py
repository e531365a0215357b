"""Plain tables of scores: CSV, TSV, JSON rows, Parquet or data frames; long or wide.

A long table has one row for each query and system, and a column for each measure. A wide table has
one row for each query, and a column for each system. Columns are recognised by their names;
``--column query=question`` names one that is not.
"""

import shlex
from collections.abc import Iterable, Mapping, Sequence
from math import isfinite, nan
from pathlib import Path

from karat.errors import FormatError, InputError, Problem
from karat.extensions.scores.readers import ScoreFile, ScoreOptions, ScoreReader
from karat.extensions.scores.record import ScoreMeasure, ScoreRow
from karat.formats.base import ReadOptions
from karat.formats.records import SourceTable, TableRow, head_columns, read_table, text_of
from karat.formats.source import Problems
from karat.formats.table import column_word
from karat.system.words import join_names

# Role -> groups of column names; a name of an earlier group is preferred to those of later ones.
ROLES: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "query": (
        (
            *(
                "query_id",
                "qid",
                "question_id",
                "sample_id",
                "instance_id",
                "example_id",
                "item_id",
            ),
            *("task_instance", "test_id", "test_case_id", "case_id", "problem_id", "prompt_id"),
        ),
        ("query", "question", "sample", "instance", "example", "item", "problem", "case", "test"),
        ("id", "_id", "input", "user_input", "prompt", "topic"),
    ),
    "system": (
        ("system", "model", "engine", "agent", "method", "retriever", "submission", "algorithm"),
        ("system_id", "model_name", "model_id", "engine_name", "agent_name", "system_name"),
        ("configuration", "config", "variant", "candidate", "approach", "provider", "run", "name"),
    ),
    "trial": (
        ("trial", "epoch", "repeat", "repetition", "attempt", "rollout", "trial_id", "replicate"),
        ("seed", "iteration", "run", "run_id"),
    ),
    "cluster": (("cluster", "cluster_id", "template", "template_id"),),
    "task": (("task", "dataset", "benchmark", "subset", "task_name", "dataset_name"),),
    "text": (("query_text", "question_text", "text", "query", "question", "prompt", "input"),),
    "error": (("error", "error_message", "exception", "failure"),),
    "cost": (("cost", "cost_usd", "price", "total_cost", "usd"),),
    "latency": (
        ("latency", "latency_ms", "latency_s", "latency_seconds", "duration", "duration_ms"),
        ("duration_s", "time", "time_s", "seconds", "elapsed", "runtime", "working_time"),
    ),
}
# Roles whose columns are measures of which less is better; so are these further names.
COSTS = ("cost", "latency")
LOWER = frozenset(
    (
        *(
            "loss",
            "error",
            "error_rate",
            "mae",
            "mse",
            "rmse",
            "perplexity",
            "wer",
            "cer",
            "regret",
        ),
        *("tokens", "total_tokens", "input_tokens", "output_tokens", "api_calls"),
    )
)
# Words that are scores if a column has no others.
WORDS = {
    **dict.fromkeys(("true", "yes", "pass", "passed", "correct", "resolved", "success"), 1.0),
    **dict.fromkeys(("false", "no", "fail", "failed", "incorrect", "unresolved", "failure"), 0.0),
}
NOTHING = ("", "null", "none", "nan", "na", "n/a", "-")
# A tag with more values than this identifies queries.
MOST_TAG_VALUES = 50
WIDE = "score"
# A column of such a name has scores, whatever else the table has.
SCORES = ("score", "scores", "accuracy", "reward", "value")
# The column that names the system of a file that has only one.
SYSTEM = "the file"


def detect(path: str, head: bytes) -> bool:
    """Return whether the header has a query and a system, or the file is any table."""
    return len(head_columns(path, head)) > 1


def read(path: Path, options: ScoreOptions) -> ScoreFile:
    """Return the scores of a table."""
    table = read_table(path, ReadOptions(options.limits))
    return from_table(table, str(path), options)


def from_table(table: SourceTable, source: str, options: ScoreOptions) -> ScoreFile:
    """Return the scores of a *table* that was read from *source*."""
    table = _flat(table)
    roles = _roles(table, source, options.columns)
    if options.system and "system" not in roles:
        table, roles["system"] = _of_one(table, options.system), SYSTEM
    problems = Problems(source)
    numbers = _numeric_columns(table, {roles[role] for role in roles if role not in COSTS})
    chosen = options.columns["score"].split(",") if "score" in options.columns else []
    for name in _nearly_numeric(table, roles, numbers, chosen):
        _add_texts(table, name, problems)
    problems.finish()
    if chosen:
        _check_scores(chosen, table, numbers, source)
        numbers = {name: numbers[name] for name in chosen}
    costs = [roles[role] for role in COSTS if role in roles and roles[role] in numbers]
    if "system" in roles:
        file = _long(table, roles, numbers, problems)
    else:
        file = _wide(
            table, roles, [name for name in numbers if name not in costs], numbers, problems
        )
    problems.finish()
    low = {*costs, *(name for name in numbers if column_word(name) in LOWER)}
    scored = {name for row in file.rows for name in row.scores}
    return file._replace(
        measures=[
            ScoreMeasure.seen(name, _all_scores(file.rows, name), lower=True)
            for name in numbers
            if name in low & scored
        ]
    )


def _of_one(table: SourceTable, system: str) -> SourceTable:
    """Return *table* with a column that names its only *system*."""
    rows = tuple(row._replace(cells={**row.cells, SYSTEM: system}) for row in table.rows)
    return table._replace(columns=(*table.columns, SYSTEM), rows=rows)


def _all_scores(rows: Iterable[ScoreRow], name: str) -> list[float]:
    scores = (row.scores.get(name) for row in rows)
    return [nan if score is None else score for score in scores]


def _flat(table: SourceTable) -> SourceTable:
    """Return *table* with the fields of objects in its cells as columns: ``scores: {f1: 0.5}``."""
    if not any(isinstance(cell, Mapping) for row in table.rows for cell in row.cells.values()):
        return table
    rows = []
    for row in table.rows:
        cells: dict[str, object] = {}
        for name, cell in row.cells.items():
            if isinstance(cell, Mapping):
                prefix = (
                    "" if column_word(name) in ("scores", "metrics", "measures") else f"{name}."
                )
                cells |= {f"{prefix}{key}": value for key, value in cell.items()}
            else:
                cells[name] = cell
        rows.append(row._replace(cells=cells))
    names = dict.fromkeys(name for row in rows for name in row.cells)
    return table._replace(columns=tuple(names), rows=tuple(rows))


def _roles(table: SourceTable, source: str, given: Mapping[str, str]) -> dict[str, str]:
    """Return role -> column; a column has one role, and those in *given* are not looked for."""
    named = {role: column for role, column in given.items() if role != "score"}
    if unknown := [role for role in named if role not in ROLES]:
        raise InputError(
            f"{source}: scores have no column {unknown[0]!r}; expected --column ROLE=NAME with one "
            f"of the roles {', '.join([*ROLES, 'score'])}"
        )
    for role, column in named.items():
        if column not in table.columns:
            header = ", ".join(map(repr, table.columns))
            raise InputError(
                f"{source}: no column {column!r} for the {role}; the file has {header}"
            )
    roles = dict(named)
    for role, groups in ROLES.items():
        if role in roles:
            continue
        free = [name for name in table.columns if name not in roles.values()]
        match = (
            name for group in groups for wish in group for name in free if column_word(name) == wish
        )
        if column := next(match, ""):
            roles[role] = column
    if "query" not in roles and "task" in roles:
        # One score for each task: the tasks are the sample.
        roles["query"] = roles["task"]
    if "query" not in roles:
        roles["query"] = _query_column(table, roles, source)
    errors = [text_of(row.cells.get(roles.get("error", ""))).strip().lower() for row in table.rows]
    if "error" not in named and all(_is_number(text) for text in errors if text not in NOTHING):
        roles.pop("error", None)
    return roles


def _query_column(table: SourceTable, roles: Mapping[str, str], source: str) -> str:
    """Return the first free column whose values tell rows apart, or raise FormatError."""
    free = [name for name in table.columns if name not in roles.values()]
    for name in free:
        values = [text_of(row.cells.get(name)).strip() for row in table.rows]
        if "system" in roles:
            systems = [text_of(row.cells.get(roles["system"])) for row in table.rows]
            alike = len(set(zip(systems, values, strict=True))) == len(values) > len(set(values))
        else:
            alike = len(set(values)) == len(values)
        if alike and all(values) and not all(map(_is_number, values)):
            return name
    header = ", ".join(map(repr, table.columns))
    guess = shlex.quote(free[0]) if free else "NAME"
    raise FormatError(
        [
            Problem(
                source,
                table.line,
                f"no column is recognised as the query; the header is {header}; name it, for "
                f"example --column query={guess}",
            )
        ]
    )


def _numeric_columns(table: SourceTable, used: set[str]) -> dict[str, list[float | None]]:
    """Return the numbers of each free column that has nothing else; None where a cell is empty."""
    columns = {}
    for name in table.columns:
        if name in used:
            continue
        cells = [row.cells.get(name) for row in table.rows]
        numbers = [_number(cell) for cell in cells]
        known = [number for number in numbers if number is not None]
        if known and all(
            number is not None or text_of(cell).strip().lower() in NOTHING
            for number, cell in zip(numbers, cells, strict=True)
        ):
            columns[name] = numbers
    return columns


def _nearly_numeric(
    table: SourceTable,
    roles: Mapping[str, str],
    numbers: Mapping[str, object],
    chosen: Sequence[str],
) -> Iterable[str]:
    """Yield the columns that must be scores and have a few cells that are not numbers.

    Those that are *chosen* or named like scores need more numbers than texts; the columns of a wide
    table, which are its systems, nine numbers for each text.
    """
    used = {*numbers, *(roles[role] for role in roles if role not in COSTS)}
    for name in table.columns:
        if name in used:
            continue
        texts, cells = len(_texts_of(table, name)), len(_filled(table, name))
        named = name in chosen or column_word(name) in SCORES or not numbers
        if 2 * texts < cells and (named or ("system" not in roles and 10 * texts <= cells)):
            yield name


def _filled(table: SourceTable, name: str) -> list[TableRow]:
    return [
        row for row in table.rows if text_of(row.cells.get(name)).strip().lower() not in NOTHING
    ]


def _texts_of(table: SourceTable, name: str) -> list[TableRow]:
    """Return the rows whose cell in the column *name* is filled and not a number."""
    return [row for row in _filled(table, name) if _number(row.cells.get(name)) is None]


def _add_texts(table: SourceTable, name: str, problems: Problems) -> None:
    for row in _texts_of(table, name):
        text = text_of(row.cells.get(name)).strip()
        where = "" if row.line else f"row {row.number}: "
        problems.add(
            row.line,
            f"{where}{name} {text!r} is not a number; expected a number, or nothing or n/a for a "
            "missing score",
        )


def _number(cell: object) -> float | None:
    """Return a cell as a number; words such as ``passed`` are 1 and 0.

    >>> _number("0.5"), _number(True), _number("fail"), _number("85 %"), _number(""), _number("x")
    (0.5, 1.0, 0.0, None, None, None)
    """
    text = text_of(cell).strip().lower()
    if text in WORDS:
        return WORDS[text]
    return float(text) if text not in NOTHING and _is_number(text) else None


def _is_number(text: str) -> bool:
    try:
        return isfinite(float(text)) and "_" not in text
    except ValueError:
        return False


def _check_scores(
    chosen: Sequence[str], table: SourceTable, numbers: Mapping[str, object], source: str
) -> None:
    for name in chosen:
        if name not in numbers:
            reason = "has cells that are not numbers" if name in table.columns else "does not exist"
            known = ", ".join(map(repr, numbers)) or "none"
            raise InputError(
                f"{source}: --column score={','.join(chosen)}: column {name!r} {reason}; columns "
                f"of numbers: {known}"
            )


def _long(
    table: SourceTable,
    roles: Mapping[str, str],
    numbers: Mapping[str, list[float | None]],
    problems: Problems,
) -> ScoreFile:
    """Return the scores of a table with a row for each query and system."""
    properties = _properties(table, roles, numbers)
    measures = [name for name in numbers if name not in properties]
    if not measures:
        header = ", ".join(map(repr, table.columns))
        problems.add(table.line, f"no column has scores; the header is {header}")
    rows = []
    for index, row in enumerate(table.rows):
        query, system = (_cell(row, roles, role) for role in ("query", "system"))
        if not query or not system:
            problems.add(row.line, f"the {'system' if query else 'query'} is empty")
            continue
        rows.append(
            ScoreRow(
                _in_task(query, row, roles),
                system,
                {name: numbers[name][index] for name in measures},
                trial=_cell(row, roles, "trial"),
                tags=_tags(row, roles, properties),
                text=_cell(row, roles, "text"),
                failed=_failed(row, roles),
            )
        )
    fields = {
        role: roles[role]
        for role in ("system", "query", "trial", "task", "cluster")
        if role in roles
    }
    return ScoreFile(rows, fields, cluster=roles.get("cluster", ""), task=roles.get("task", ""))


def _wide(
    table: SourceTable,
    roles: Mapping[str, str],
    systems: Sequence[str],
    numbers: Mapping[str, list[float | None]],
    problems: Problems,
) -> ScoreFile:
    """Return the scores of a table with a row for each query, and a column for each system."""
    if not systems:
        header = ", ".join(map(repr, table.columns))
        problems.add(
            table.line,
            f"no column is recognised as the system, and none has scores; the header is {header}; "
            "name it, for example --column system=NAME",
        )
    properties = _properties(table, roles, numbers)
    rows = []
    for index, row in enumerate(table.rows):
        if not (query := _cell(row, roles, "query")):
            problems.add(row.line, "the query is empty")
            continue
        rows += [
            ScoreRow(
                _in_task(query, row, roles),
                system,
                {WIDE: numbers[system][index]},
                trial=_cell(row, roles, "trial"),
                tags=_tags(row, roles, properties),
                text=_cell(row, roles, "text"),
            )
            for system in systems
        ]
    fields = (
        {"system": f"the columns {join_names([*map(repr, systems)])}"}
        if len(systems) < 6
        else {"system": f"{len(systems)} columns"}
    )
    fields |= {role: roles[role] for role in ("query", "trial", "task", "cluster") if role in roles}
    return ScoreFile(rows, fields, cluster=roles.get("cluster", ""), task=roles.get("task", ""))


def _properties(
    table: SourceTable, roles: Mapping[str, str], numbers: Mapping[str, object]
) -> list[str]:
    """Return the columns that describe queries: one value for each query, and few in all.

    A column of numbers is one only if several systems have the same query and never differ there,
    although queries do.
    """
    used = set(roles.values())
    properties = []
    for name in table.columns:
        if name in used:
            continue
        values: dict[str, set[str]] = {}
        # Trials of one system may well have equal scores.
        pairs: set[tuple[str, str]] = set()
        for row in table.rows:
            query = _in_task(_cell(row, roles, "query"), row, roles)
            values.setdefault(query, set()).add(text_of(row.cells.get(name)).strip())
            pairs.add((query, _cell(row, roles, "system")))
        different = {value for each in values.values() for value in each}
        constant = all(len(each) == 1 for each in values.values())
        repeated = len(different) < len(values) and len(different) <= MOST_TAG_VALUES
        if not constant or not repeated or len(different) < 2:
            continue
        if name not in numbers or (
            "system" in roles and len(pairs) >= 2 * len(values) and len(values) > 5
        ):
            properties.append(name)
    return properties


def _tags(row: TableRow, roles: Mapping[str, str], properties: Iterable[str]) -> dict[str, str]:
    names = [*(roles[role] for role in ("task", "cluster") if role in roles), *properties]
    values = {name: text_of(row.cells.get(name)).strip() for name in names}
    return {name: value for name, value in values.items() if value}


def _cell(row: TableRow, roles: Mapping[str, str], role: str) -> str:
    return text_of(row.cells.get(roles[role])).strip() if role in roles else ""


def _in_task(query: str, row: TableRow, roles: Mapping[str, str]) -> str:
    """Return the id of a query: tasks number their queries independently."""
    task = _cell(row, roles, "task")
    return f"{task}/{query}" if task and query and task != query else query


def _failed(row: TableRow, roles: Mapping[str, str]) -> bool:
    return _cell(row, roles, "error").lower() not in (*NOTHING, "0", "false")


READER = ScoreReader(
    "score-table",
    "table of scores (CSV, TSV, JSON, Parquet): query, system and scores, or a column a system",
    detect,
    read,
    fallback=True,
)
