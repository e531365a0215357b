"""A part of the names of a run may differ; the warning names what repairs them."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.formats import read_dataset
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.evaluation import Mismatch
from karat.scoring.matching import judge
from karat.scoring.matching.mismatch import QuerySample, Repair
from karat.scoring.matching.near_misses import NearMisses

Change = Callable[[str], str]


def gold(queries: int = 30, *, match: str = "exact") -> Dataset:
    """Return queries with two targets each; the name of the second has no capital or blank."""
    return Dataset.of(
        [
            Query(f"q{n}", "", (Target(f"src/Mail Box/Read_{n}.py"), Target(f"docs/read_{n}.md")))
            for n in range(queries)
        ],
        match=match,
    )


def perfect(data: Dataset, change: Change, *, every: int = 3) -> Run:
    """Return the targets of each query as hits; every n-th answer has changed names."""
    answers = []
    for row, query in enumerate(data.queries()):
        names = [target.path for target in query.targets]
        changed = [change(name) for name in names] if row % every == 0 else names
        answers.append(Answer(query.id, (*map(Hit, changed), Hit("other.py"))))
    return Run.of(answers)


def mismatch_of(data: Dataset, run: Run, **options: object) -> Mismatch | None:
    return judge(data, run, **options).mismatch  # type: ignore[arg-type]


REPAIRED = [
    ("repo/{}", "--strip-prefix repo/"),
    ("/home/ann/repo/{}", "--strip-prefix /home/ann/repo/"),
    ("file:///home/ann/repo/{}", "--strip-prefix file:///home/ann/repo/"),
    ("C:\\repo\\{}", "--strip-prefix 'C:\\repo\\'"),
    ("{}#L10-L20", "--cut-at '#L'"),
    ("{}:10-20", "--cut-at :"),
    ("repo/{}#L10-L20", "--strip-prefix repo/ --cut-at '#L'"),
]


@pytest.mark.parametrize(("form", "options"), REPAIRED)
def test_a_third_of_the_queries_with_another_name_has_an_option(form: str, options: str) -> None:
    data = gold()
    mismatch = mismatch_of(data, perfect(data, form.format))
    assert mismatch
    assert (mismatch.queries, mismatch.answered, mismatch.sure) == (10, 30, False)
    assert (mismatch.options, mismatch.advice) == (options, "")
    respelled = form.format("src/Mail Box/Read_0.py")
    assert mismatch.text("new") == (
        f"in 10 of 30 queries, new has a target under another name: the run has {respelled!r}, "
        f"the gold set 'src/Mail Box/Read_0.py'; add {options}"
    )


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        (quote, "decode the percent-encoding (%20) of the names in the run"),
        (str.lower, "write the names in the run with the upper and lower case of the gold set"),
        ("{}\r".format, "remove the blanks and carriage returns around the names in the run"),
        (
            lambda name: f" file:///r/{quote(name)}",
            "decode the percent-encoding (%20) of the names in the run and remove the blanks and "
            "carriage returns around the names in the run and add --strip-prefix file:///r/",
        ),
    ],
)
def test_what_no_option_changes_is_advice(change: Change, advice: str) -> None:
    data = gold()
    mismatch = mismatch_of(data, perfect(data, change))
    assert mismatch
    assert (mismatch.queries, mismatch.options, mismatch.partly) == (10, "", True)
    assert mismatch.advice == advice


def test_if_all_names_have_another_case_the_scores_mean_nothing() -> None:
    data = Dataset.of([Query(f"q{n}", "", (Target(f"src/Read_{n}.py"),)) for n in range(30)])
    mismatch = mismatch_of(data, perfect(data, str.lower, every=1))
    assert mismatch
    assert (mismatch.sure, mismatch.partly) == (True, False)
    assert mismatch.text("new") == (
        "no hit of new is a target: the run has 'src/read_0.py', the gold set 'src/Read_0.py'; "
        "write the names in the run with the upper and lower case of the gold set"
    )


def test_each_query_may_have_a_hit_while_a_target_of_all_is_misspelled() -> None:
    data = gold()
    mismatch = mismatch_of(data, perfect(data, str.lower, every=1))
    assert mismatch
    assert (mismatch.queries, mismatch.partly) == (30, True)


def test_a_third_of_the_hits_is_enough() -> None:
    data = gold()
    answers = [
        Answer(query.id, (Hit(f"repo/{query.targets[0].path}"), Hit(query.targets[1].path)))
        for query in data.queries()
    ]
    mismatch = mismatch_of(data, Run.of(answers))
    assert mismatch
    assert (mismatch.queries, mismatch.options) == (30, "--strip-prefix repo/")


@pytest.mark.parametrize(("wrong", "warned"), [(1, False), (4, False), (5, True), (9, True)])
def test_five_percent_of_the_queries_are_worth_a_warning(wrong: int, *, warned: bool) -> None:
    data = gold(100)
    run = perfect(data, "repo/{}".format, every=100 // wrong)
    changed = sum(answer.hits[0].path.startswith("repo/") for answer in run.answers())
    assert (changed >= 5) is warned
    assert bool(mismatch_of(data, run)) is warned


def test_a_large_set_is_sampled() -> None:
    data = gold(1_000)
    mismatch = mismatch_of(data, perfect(data, "repo/{}".format))
    assert mismatch
    assert mismatch.answered == 200
    assert mismatch.queries == pytest.approx(200 / 3, abs=1)


def test_lines_in_names_need_fields_where_lines_are_judged() -> None:
    data = Dataset.of(
        [Query(f"q{n}", "", (Target(f"src/{n}.py", 1, 10, 20),)) for n in range(30)], match="lines"
    )
    answers = [
        Answer(
            f"q{n}", (Hit(f"src/{n}.py:10-20") if n % 3 == 0 else Hit(f"src/{n}.py", 0, 10, 20),)
        )
        for n in range(30)
    ]
    mismatch = mismatch_of(data, Run.of(answers))
    assert mismatch
    assert mismatch.options == ""
    assert mismatch.advice.startswith("the run needs lines as fields")


def test_ids_are_compared_too() -> None:
    truth = {f"q{n}": {f"D{n}": 1.0} for n in range(30)}
    run = {f"q{n}": {f"x-D{n}" if n % 3 == 0 else f"D{n}": 1.0} for n in range(30)}
    mismatch = judge(truth, run).mismatch
    assert mismatch
    assert mismatch.options == "--strip-prefix x-"
    assert judge(truth, run, strip_prefix=["x-"]).mismatch is None


def test_an_option_that_was_given_and_helps_is_not_advised() -> None:
    data = gold()
    run = perfect(data, "repo/{}".format)
    assert mismatch_of(data, run, strip_prefix=["repo/"]) is None
    nested = mismatch_of(data, perfect(data, "x/repo/{}".format), strip_prefix=["x/"])
    assert nested
    assert nested.options == "--strip-prefix x/repo/"


def test_modes_of_partial_names_have_no_other_spelling() -> None:
    data = gold(match="suffix")
    assert mismatch_of(data, perfect(data, str.lower)) is None


@pytest.mark.parametrize(
    "hits",
    [
        # Two copies of a file, which one answer has both.
        lambda n: [f"lib/src/{n}.py", "lib/src/99.py", "src/99.py"],
        # One file with a common name, again and again.
        lambda n: ["lib/README.md"],
        # Longer names that end alike, and chunks of ids.
        lambda n: [f"my-src/{n}.py", f"src/{n}.pyc", f"xsrc/{n}.py"],
        lambda n: [f"src/{n}.py.bak", f"src/{n}.py_1"],
        # The same in lower case, beside each other.
        lambda n: [f"SRC/{n}.py", "SRC/99.py", "src/99.py"],
    ],
)
def test_a_bad_search_on_similar_files_is_not_misspelled(
    hits: Callable[[int], Sequence[str]],
) -> None:
    targets = [f"src/{n}.py" if "README" not in hits(n)[0] else "README.md" for n in range(30)]
    data = Dataset.of([Query(f"q{n}", "", (Target(path),)) for n, path in enumerate(targets)])
    # Two of three queries are answered well.
    answers = [
        Answer(f"q{n}", tuple(map(Hit, hits(n) if n % 3 == 0 else [targets[n]]))) for n in range(30)
    ]
    assert mismatch_of(data, Run.of(answers)) is None


def test_a_target_below_the_prefix_shows_that_the_folder_exists() -> None:
    data = gold()
    other = Query("q30", "", (Target("repo/own.py"),))
    more = data.with_queries([*data.queries(), other])
    answers = [*perfect(data, "repo/{}".format).answers(), Answer("q30", (Hit("repo/own.py"),))]
    assert mismatch_of(more, Run.of(answers)) is None


@pytest.mark.parametrize("works", [True, False])
def test_a_repair_that_finds_nothing_is_not_named(*, works: bool) -> None:
    misses = NearMisses(9)
    for n in range(9):
        misses.add(f"q{n}", lambda n=n: [Target(f"{n}.py")], [Hit(f"x/{n}.py")])  # type: ignore[misc]

    def tried(repair: Repair, samples: Sequence[QuerySample]) -> list[bool]:
        assert repair == Repair(strip_prefix="x/")
        return [works] * len(samples)

    assert bool(misses.mismatch(by_id=False, tried=tried, targets=["0.py"])) is works


@pytest.mark.parametrize(
    ("target", "name"),
    [
        # The folded form of the sharp s is longer, so that the places in it are others.
        ("strasse.py", "ß/STRASSE.py"),
        # The target has the escape, not the hit.
        ("a%20b.py", "a b.py"),
        ("", "a.py"),
    ],
)
def test_names_that_are_only_alike_when_folded_are_left_alone(target: str, name: str) -> None:
    misses = NearMisses(9)
    for n in range(9):
        misses.add(f"q{n}", lambda: [Target(target)], [name])

    def tried(repair: Repair, samples: Sequence[QuerySample]) -> list[bool]:
        raise AssertionError

    assert misses.mismatch(by_id=False, tried=tried, targets=[]) is None


names = st.from_regex(r"[a-c]{1,2}(/[a-cA]{1,2}){0,2}\.(py|md)", fullmatch=True)


@given(paths=st.lists(names, min_size=30, max_size=60, unique=True), seed=st.integers(0, 99))
def test_any_change_of_a_third_is_found(paths: list[str], seed: int) -> None:
    data = Dataset.of([Query(f"q{n}", "", (Target(path),)) for n, path in enumerate(paths)])
    form, options = REPAIRED[seed % len(REPAIRED)]
    mismatch = mismatch_of(data, perfect(data, form.format))
    assert mismatch
    assert mismatch.options == options
    assert mismatch.queries == (len(paths) + 2) // 3


@given(
    paths=st.lists(names, min_size=20, max_size=40, unique=True),
    seed=st.integers(0, 9_999),
    missed=st.integers(0, 10),
)
def test_copies_in_another_folder_are_documents(paths: list[str], seed: int, missed: int) -> None:
    """Every file also exists below lib/; the search confuses both, and misses some."""
    rng = Random(seed)
    everything = [*paths, *(f"lib/{path}" for path in paths)]
    targets = [rng.choice(everything) for _ in range(40)]
    if not any(path.startswith("lib/") for path in targets):
        targets[0] = everything[-1]
    data = Dataset.of([Query(f"q{n}", "", (Target(path),)) for n, path in enumerate(targets)])
    answers = []
    for n, target in enumerate(targets):
        others = [path for path in rng.sample(everything, 10) if path != target]
        answers.append(
            Answer(f"q{n}", tuple(map(Hit, others if n < missed else [target, *others])))
        )
    mismatch = mismatch_of(data, Run.of(answers))
    assert mismatch is None or not mismatch.partly


def test_shuffled_hits_of_real_sets_are_not_misspelled(shared_data: Path) -> None:
    sets = [
        [
            [Target(each) for each in row["relevant"] if isinstance(each, str)]
            for row in json.loads(file.read_text())
        ]
        for file in sorted((shared_data / "semble" / "annotations").glob("*.json"))
    ]
    octocode = read_dataset(shared_data / "octocode" / "code.csv")
    sets.append([[Target(each.path) for each in query.targets] for query in octocode.queries()])
    assert len(sets) == 13
    rng = Random(7)
    for targets in sets:
        data = Dataset.of([Query(f"q{n}", "", tuple(row)) for n, row in enumerate(targets) if row])
        paths = sorted({target.path for row in targets for target in row})
        everything = [*paths, *(f"vendor/{path}" for path in paths)]
        run = Run.of(
            Answer(query_id, tuple(map(Hit, rng.sample(everything, min(20, len(everything))))))
            for query_id in data.query_ids
        )
        mismatch = mismatch_of(data, run)
        assert mismatch is None or not mismatch.partly
        if len(data) >= 10:
            wrong = mismatch_of(data, perfect(data, "repo/{}".format))
            assert wrong
            assert wrong.options == "--strip-prefix repo/"
