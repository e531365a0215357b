"""Every error says what, where and what was expected, and which exit code it means."""

import inspect

import pytest

from karat import errors
from karat.errors import (
    Conflict,
    FormatError,
    InputError,
    KaratError,
    LimitExceeded,
    MissingExtra,
    Problem,
    TooManyJobs,
    UnknownFormat,
    UnknownName,
)
from karat.installation import install_hint


def test_a_problem_names_its_line_where_there_is_one() -> None:
    assert str(Problem("code.csv", 12, "grade 'x' is no number")) == (
        "code.csv:12: grade 'x' is no number"
    )
    assert str(Problem("code.csv", 0, "no header")) == "code.csv: no header"


def test_a_format_error_carries_every_problem_and_shows_the_first_twenty() -> None:
    problems = [Problem("a.csv", line, f"bad {line}") for line in range(1, 24)]
    error = FormatError(iter(problems))  # type: ignore[arg-type]  # any iterable will do
    lines = str(error).splitlines()
    assert error.problems == tuple(problems)
    assert lines[0] == "a.csv:1: bad 1"
    assert lines[19] == "a.csv:20: bad 20"
    assert lines[20:] == ["... and 3 more"]


def test_twenty_problems_leave_nothing_out() -> None:
    error = FormatError([Problem("a.csv", line, f"bad {line}") for line in range(1, 21)])
    assert len(str(error).splitlines()) == 20


def test_problems_that_differ_only_in_their_line_are_shown_once() -> None:
    bad = [Problem("a.run", line, "no tag") for line in range(3, 3_103)]
    pair = [Problem("a.run", line, "no score") for line in (1, 2)]
    error = FormatError([*pair, *bad])
    assert len(error.problems) == 3_102
    assert str(error).splitlines() == [
        "a.run:1: no score (and on 1 more line)",
        "a.run:3: no tag (and on 3,099 more lines)",
    ]


@pytest.mark.parametrize(
    ("kind", "built_in", "exit_code"),
    [
        (KaratError, Exception, 3),
        (InputError, ValueError, 2),
        (Conflict, ValueError, 2),
        (TooManyJobs, Conflict, 2),
        (FormatError, ValueError, 2),
        (LimitExceeded, ValueError, 2),
        (UnknownFormat, ValueError, 2),
        (UnknownName, LookupError, 2),
        (MissingExtra, ImportError, 2),
    ],
)
def test_each_class_is_ours_and_its_nearest_built_in(
    kind: type[KaratError], built_in: type[Exception], exit_code: int
) -> None:
    assert issubclass(kind, KaratError)
    assert issubclass(kind, built_in)
    assert kind.exit_code == exit_code


def test_a_missing_extra_says_how_to_install_it() -> None:
    error = MissingExtra("polars", extra="big", purpose="reading Parquet")
    assert str(error) == f"reading Parquet needs the extra big: {install_hint('big')}"
    assert error.extra == "big"
    assert error.name == "polars"


def test_the_drawn_tree_names_every_class() -> None:
    drawn = inspect.getdoc(errors) or ""
    classes = [
        name
        for name, member in vars(errors).items()
        if inspect.isclass(member) and issubclass(member, KaratError)
    ]
    assert len(classes) >= 6
    assert [name for name in classes if name not in drawn] == []
