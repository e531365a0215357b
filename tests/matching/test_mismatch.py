"""A run that names documents otherwise is told from one that finds nothing."""

from collections.abc import Callable

import pytest

from karat.matching import judge
from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.mismatch import Mismatch

FOLDERS = ("src", "lib", "docs")


def path(number: int) -> str:
    return f"{FOLDERS[number % 3]}/part{number}/file.py"


def gold(match: str = "exact", *, size: int = 12, lead: str = "") -> Dataset:
    return Dataset.of(
        [
            Query(f"q{n}", "", (Target(lead + path(n), 1, *((3, 9) if match == "lines" else ())),))
            for n in range(size)
        ],
        match=match,
    )


def found(
    respelled: Callable[[str], str],
    *,
    size: int = 12,
    match: str = "exact",
    lead: str = "",
    **options: object,
) -> Mismatch | None:
    """Return the mismatch of a run that finds every second target, at rank 2."""
    run = Run.of(
        Answer(
            f"q{n}",
            tuple(
                Hit(respelled(each), -rank, *((1, 5) if match == "lines" else ()))
                for rank, each in enumerate([f"misc/{n}.py", path(n) if n % 2 else "no.py"])
            ),
        )
        for n in range(size)
    )
    return judge(gold(match, size=size, lead=lead), run, **options).mismatch  # type: ignore[arg-type]


REPAIRS = {
    "--root x": lambda name: f"x/{name}",
    "--root /work/repo": lambda name: f"/work/repo/{name}",
    "--strip-prefix /": lambda name: f"/{name}",
    "--cut-at '#'": lambda name: f"{name}#3",
    "--cut-at :": lambda name: f"{name}:10-20",
    "--cut-at ::chunk_": lambda name: f"{name}::chunk_4",
    "--root x --cut-at '#'": lambda name: f"x/{name}#12",
}


@pytest.mark.parametrize("options", REPAIRS)
@pytest.mark.parametrize("match", ["exact", "lines"])
def test_the_option_that_repairs_the_paths_is_named(options: str, match: str) -> None:
    mismatch = found(REPAIRS[options], match=match)
    assert mismatch is not None
    assert (mismatch.queries, mismatch.answered, mismatch.options) == (12, 12, options)
    assert mismatch.hit == REPAIRS[options](mismatch.target)


def test_the_repair_works() -> None:
    assert found(REPAIRS["--root x"], root="x") is None
    assert found(REPAIRS["--cut-at '#'"], cut_at="#") is None
    assert found(lambda name: f"r1:{name}", strip_prefix=("r0:", "r1:")) is None


@pytest.mark.parametrize("match", ["exact", "lines"])
def test_targets_may_be_the_longer_ones(match: str) -> None:
    mismatch = found(str, match=match, lead="repo/")
    assert mismatch is not None
    assert mismatch.options == "--root repo"


def test_many_prefixes_need_suffix_matching() -> None:
    mismatch = found(lambda name: f"{sum(map(ord, name))}/{name}")
    assert mismatch is not None
    assert mismatch.options == "--match suffix"
    assert found(lambda name: f"{sum(map(ord, name))}/{name}", match="lines") is not None


def test_ids() -> None:
    judgments = {f"q{n}": {str(n + 100): 1.0} for n in range(12)}

    def ran(
        respelled: Callable[[str], str],
        truth: dict[str, dict[str, float]] = judgments,
        **options: object,
    ) -> Mismatch | None:
        run = {q: {respelled(each): 1.0 for each in truth[q]} for q in truth}
        return judge(truth, run, **options).mismatch  # type: ignore[arg-type]

    assert ran(str) is None
    for respelled, options in (
        (lambda name: f"MARCO_{name}", "--strip-prefix MARCO_"),
        (lambda name: f"{name}#7", "--cut-at '#'"),
        (lambda name: f"doc-{name}-chunk3", "--strip-prefix doc- --cut-at -chunk"),
    ):
        mismatch = ran(respelled)
        assert mismatch is not None
        assert mismatch.options == options
    assert ran(lambda name: f"MARCO_{name}", strip_prefix=["MARCO_"]) is None
    paths = {f"q{n}": {path(n): 1.0} for n in range(12)}
    mismatch = ran(lambda name: name.replace("/", "\\"), paths)
    assert mismatch is not None
    assert mismatch.options == "--match exact"
    mismatch = ran(lambda name: name.partition("/")[2], paths)
    assert mismatch is not None
    assert mismatch.options == "--match suffix"


def test_names_of_another_kind_have_no_repair() -> None:
    mismatch = found(lambda name: str(len(name) * 17), size=3)
    assert mismatch is not None
    assert mismatch.options == ""
    assert mismatch.sure
    assert "check that both use the same names" in mismatch.text("run")


def test_a_run_that_never_returns_a_target_is_told_of_only_with_enough_queries() -> None:
    def elsewhere(name: str) -> str:
        return f"other/{len(name)}/x.py"

    assert found(elsewhere, size=3) is None
    mismatch = found(elsewhere, size=12)
    assert mismatch is not None
    assert not mismatch.sure


def test_a_bad_run_that_returns_targets_of_other_queries_is_only_bad() -> None:
    run = Run.of(Answer(f"q{n}", (Hit(path((n + 1) % 12), 1.0),)) for n in range(12))
    assert judge(gold(), run).mismatch is None


def test_misses_are_no_mismatch_where_a_few_names_end_alike() -> None:
    def hits(n: int) -> tuple[Hit, ...]:
        return (Hit(path(n) if n < 5 else f"{n}/x.py"), Hit("file.py" if n < 7 else "other.py"))

    assert judge(gold(), Run.of(Answer(f"q{n}", hits(n)) for n in range(12))).mismatch is None


def test_most_queries_are_enough() -> None:
    run = Run.of(Answer(f"q{n}", (Hit(path(n) if n < 4 else f"x/{path(n)}"),)) for n in range(12))
    mismatch = judge(gold(), run).mismatch
    assert mismatch == Mismatch(8, 12, "x/" + path(4), path(4), "--root x")
    assert mismatch.text("new").startswith("in 8 of 12 answered queries no hit of new is a target")
    half = Run.of(Answer(f"q{n}", (Hit(path(n) if n < 6 else f"x/{path(n)}"),)) for n in range(12))
    assert judge(gold(), half).mismatch is None


def test_a_depth_that_hides_all_targets_is_no_mismatch() -> None:
    assert found(str, depth=1) is None


def test_a_query_with_symbols_alone_has_no_names_to_compare() -> None:
    names = Dataset.of([Query("q", "", (Target("", symbol="run"),))], match="akashic")
    assert judge(names, Run.of([Answer("q", (Hit("a.py"),))])).mismatch is None


def test_only_a_sample_is_kept() -> None:
    mismatch = found(REPAIRS["--root x"], size=100)
    assert mismatch is not None
    assert (mismatch.queries, mismatch.options) == (100, "--root x")
