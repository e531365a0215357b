"""A run that names documents otherwise is told from one that finds nothing."""

from collections.abc import Callable, Iterator

import pytest

from karat.model import Answer, Dataset, Hit, Query, Run, Target
from karat.model.evaluation import Mismatch
from karat.scoring.matching import judge

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


def mismatch_of(
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
    "--root /srv/repo": lambda name: f"/srv/repo/{name}",
    "--strip-prefix /": lambda name: f"/{name}",
    "--cut-at '#'": lambda name: f"{name}#3",
    "--cut-at :": lambda name: f"{name}:10-20",
    "--cut-at ::chunk_": lambda name: f"{name}::chunk_4",
    "--root x --cut-at '#'": lambda name: f"x/{name}#12",
}


@pytest.mark.parametrize("options", REPAIRS)
@pytest.mark.parametrize("match", ["exact", "lines"])
def test_the_option_that_repairs_the_paths_is_named(options: str, match: str) -> None:
    mismatch = mismatch_of(REPAIRS[options], match=match)
    assert mismatch is not None
    assert (mismatch.queries, mismatch.answered, mismatch.options) == (12, 12, options)
    assert mismatch.hit == REPAIRS[options](mismatch.target)


def test_the_repair_works() -> None:
    assert mismatch_of(REPAIRS["--root x"], root="x") is None
    assert mismatch_of(REPAIRS["--cut-at '#'"], cut_at="#") is None
    assert mismatch_of(lambda name: f"r1:{name}", strip_prefix=("r0:", "r1:")) is None


@pytest.mark.parametrize("match", ["exact", "lines"])
def test_targets_may_be_the_longer_ones(match: str) -> None:
    mismatch = mismatch_of(str, match=match, lead="repo/")
    assert mismatch is not None
    assert mismatch.options == "--root repo"


def test_many_prefixes_need_suffix_matching() -> None:
    mismatch = mismatch_of(lambda name: f"{sum(map(ord, name))}/{name}")
    assert mismatch is not None
    assert mismatch.options == "--match suffix"
    assert mismatch_of(lambda name: f"{sum(map(ord, name))}/{name}", match="lines") is not None


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
    mismatch = mismatch_of(lambda name: str(len(name) * 17), size=3)
    assert mismatch is not None
    assert mismatch.options == ""
    assert mismatch.sure
    assert "check that both use the same names" in mismatch.text("run")


def test_a_run_that_never_returns_a_target_is_told_of_only_with_enough_queries() -> None:
    def elsewhere(name: str) -> str:
        return f"other/{len(name)}/x.py"

    assert mismatch_of(elsewhere, size=3) is None
    mismatch = mismatch_of(elsewhere, size=12)
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
    part = judge(gold(), half).mismatch
    assert part
    assert (part.partly, part.queries, part.sure) == (True, 6, False)


def test_a_depth_that_hides_all_targets_is_no_mismatch() -> None:
    assert mismatch_of(str, depth=1) is None


def test_a_query_with_symbols_alone_has_no_names_to_compare() -> None:
    names = Dataset.of([Query("q", "", (Target("", symbol="run"),))], match="akashic")
    assert judge(names, Run.of([Answer("q", (Hit("a.py"),))])).mismatch is None


def test_only_a_sample_is_kept() -> None:
    mismatch = mismatch_of(REPAIRS["--root x"], size=100)
    assert mismatch is not None
    assert (mismatch.queries, mismatch.options) == (100, "--root x")


def named(
    names: dict[str, list[str]], targets: dict[str, list[str]], match: str = "exact"
) -> Mismatch | None:
    """Return the mismatch of a run with these hits; in the mode for lines targets have lines."""
    lines = (3, 9) if match == "lines" else ()
    gold = [Query(q, "", tuple(Target(each, 1, *lines) for each in targets[q])) for q in targets]
    run = [Answer(q, tuple(Hit(each, -n) for n, each in enumerate(names[q]))) for q in names]
    return judge(Dataset.of(gold, match=match), Run.of(run)).mismatch


@pytest.mark.parametrize("rest", [":993-9113", ":12", "#L3-L9", "#L3", "#3-9"])
def test_lines_in_a_name_are_not_cut_where_lines_are_judged(rest: str) -> None:
    targets = {f"q{n}": [path(n)] for n in range(12)}
    hits = {q: [f"{each}{rest}" for each in paths] for q, paths in targets.items()}
    mismatch = named(hits, targets, "lines")
    assert mismatch is not None
    assert (mismatch.options, mismatch.sure) == ("", True)
    assert "JSON lines with path, start_line and end_line" in mismatch.text("run")
    of_files = named(hits, targets)
    assert of_files is not None
    assert of_files.options.startswith("--cut-at")


def test_chunks_without_lines_are_cut_where_lines_are_judged() -> None:
    targets = {f"q{n}": [path(n)] for n in range(12)}
    mismatch = named({q: [f"{paths[0]}#3"] for q, paths in targets.items()}, targets, "lines")
    assert mismatch is not None
    assert mismatch.options == "--cut-at '#'"


@pytest.mark.parametrize("match", ["exact", "lines"])
def test_base_names_that_fit_several_targets_have_no_repair(match: str) -> None:
    folders = ["src/ui"] * 7 + ["src/core"] * 5
    targets = {f"q{n}": [f"{folder}/{n % 7}.py"] for n, folder in enumerate(folders)}
    hits = {q: [paths[0].rpartition("/")[2]] for q, paths in targets.items()}
    mismatch = named(hits, targets, match)
    assert mismatch is not None
    assert (mismatch.options, mismatch.sure) == ("", True)
    assert (
        "'0.py' fits several targets, 'src/ui/0.py' and 'src/core/0.py': no option can repair this"
    ) in mismatch.text("run")


def test_targets_outside_the_sample_can_be_ambiguous_too() -> None:
    targets = {f"q{n}": [f"src/{n % 70}/{n % 70}.py"] for n in range(70)}
    targets["last"] = ["lib/0.py"]
    hits = {q: [paths[0].rpartition("/")[2]] for q, paths in targets.items()}
    mismatch = named(hits, targets)
    assert mismatch is not None
    assert (mismatch.options, mismatch.advice[:26]) == ("", "'0.py' fits several target")


def test_a_root_that_fits_few_queries_is_not_proposed() -> None:
    targets = {f"q{n}": [f"{'src/ui' if n < 7 else 'src/core'}/{n}.py"] for n in range(12)}
    hits = {q: [paths[0].rpartition("/")[2]] for q, paths in targets.items()}
    of_files, of_lines = named(hits, targets), named(hits, targets, "lines")
    assert of_files is not None
    assert of_lines is not None
    assert of_files.options == "--match suffix"
    assert (of_lines.options, of_lines.sure) == ("", True)
    assert "no option can repair this: the run needs the full paths" in of_lines.text("run")


def test_a_missing_root_is_proposed_though_a_base_name_fits_two_targets() -> None:
    targets = {f"q{n}": [f"repo/src/{n}.py"] for n in range(10)}
    targets |= {"q10": ["repo/setup.py"], "q11": ["repo/examples/setup.py"]}
    hits = {q: [paths[0].removeprefix("repo/")] for q, paths in targets.items()}
    mismatch = named(hits, targets)
    assert mismatch is not None
    assert mismatch.options == "--root repo"


def test_one_similar_name_among_many_queries_is_chance() -> None:
    targets = {f"q{n}": ["setup.py" if n == 0 else f"{n}.py"] for n in range(10)}
    hits = {q: ["other.py"] for q in targets} | {"q0": ["examples/setup.py"]}
    mismatch = named(hits, targets)
    assert mismatch is None or not mismatch.sure
    for size, options in ((3, None), (2, "--root examples")):
        first = [f"q{n}" for n in range(size)]
        few = named({q: hits[q] for q in first}, {q: targets[q] for q in first})
        assert (few and few.options) == options


def test_a_reused_ranking_is_copied() -> None:
    ranking: dict[str, float] = {}

    def stream() -> Iterator[tuple[str, dict[str, float]]]:
        for n in range(12):
            ranking.clear()
            ranking[f"x-{n}"] = 1.0
            yield f"q{n}", ranking

    mismatch = judge({f"q{n}": {str(n): 1.0} for n in range(12)}, stream()).mismatch
    assert mismatch == Mismatch(12, 12, "x-0", "0", "--strip-prefix x-")


def test_numbered_chunks_are_cut_where_every_hit_is_one() -> None:
    gold = {f"q{n}": {f"doc{n}": 1.0} for n in range(12)}
    chunks = {q: {f"{each}_{c}": 1.0 for each in gold[q] for c in range(3)} for q in gold}
    mismatch = judge(gold, chunks).mismatch
    assert mismatch is not None
    assert mismatch.options == "--cut-at _"
    mixed = {q: {**scores, "whole": 0.5} for q, scores in chunks.items()}
    uncertain = judge(gold, mixed).mismatch
    assert uncertain is not None
    assert (uncertain.options, uncertain.sure) == ("", False)
    assert "no hit of new is a target; the names may not match" in uncertain.text("new")


def test_a_bad_search_of_the_same_tree_lacks_no_folder() -> None:
    targets = {f"q{n}": [f"examples/{n}/README.md"] for n in range(12)}
    others = [f"examples/{n}/main.py" for n in range(5)]
    bad = {q: ["README.md", "src/README.md", *others] for q in targets}
    mismatch = named(bad, targets)
    assert mismatch is not None
    assert (mismatch.options, mismatch.sure) == ("", False)
    one = {"q1": targets["q1"]}
    assert named({"q1": bad["q1"]}, one) is None


def test_a_missing_root_may_have_the_name_of_a_folder_below_it() -> None:
    targets = {f"q{n}": [f"requests/requests/{n}.py"] for n in range(12)}
    hits = {q: [paths[0].removeprefix("requests/")] for q, paths in targets.items()}
    mismatch = named(hits, targets)
    assert mismatch is not None
    assert mismatch.options == "--match suffix"


def test_an_extension_is_no_chunk() -> None:
    targets = {f"q{n}": [f"test/{n}.test"] for n in range(12)}
    mismatch = named({q: [f"{paths[0]}.expected"] for q, paths in targets.items()}, targets)
    assert mismatch is not None
    assert (mismatch.options, mismatch.sure) == ("", False)
    chunks = named({q: [f"{paths[0]}.7"] for q, paths in targets.items()}, targets)
    assert chunks is not None
    assert chunks.options == "--cut-at ."
