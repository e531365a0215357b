"""The candidates of an experiment: kind of file, globs, skipped targets, pages, and the record."""

from dataclasses import replace
from pathlib import Path

import pytest

from karat.errors import InputError
from karat.experiments.plan import ExperimentRequest, engine_configurations
from karat.experiments.run import run_experiment
from karat.experiments.store import ExperimentKind, open_store
from karat.experiments.target_check import Where, check_targets, locate_pages
from karat.model import Dataset, Query, Target

FILES = {
    "README.md": "# Shop\nHow to log in to the shop.\n",
    "docs/login.md": "# Log in\nUse a token to log in.\n",
    "docs/old/login.md": "# Log in\nUse a password to log in.\n",
    "src/login.py": "def log_in(token):\n    return token\n",
}


@pytest.fixture
def place(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    for name, text in FILES.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    (root / "manual.bin").write_bytes(b"\0\1")
    return root


def gold(*paths: str) -> Dataset:
    queries = [Query(path, "log in", (Target(path),)) for path in paths]
    return Dataset.of(queries, name="questions", match="exact")


def test_candidates_never_follow_the_targets(place: Path) -> None:
    """One code target in a documentation set must not change the scores of the other queries."""
    where = Where(corpus=str(place))
    docs, mixed = (
        check_targets(gold(*paths), where, match="exact").searched
        for paths in (["docs/login.md"], ["docs/login.md", "src/login.py"])
    )
    assert (docs.kind, docs.kind_from, docs.most) == (mixed.kind, mixed.kind_from, mixed.most)
    assert (docs.kind, docs.kind_from, docs.most) == ("all", "", 4)
    assert (docs.suggested_kind, docs.other_kind) == ("docs", 1)
    assert (mixed.suggested_kind, mixed.other_kind) == ("", 0)
    code = check_targets(gold("src/login.py"), where, match="exact").searched
    assert (code.suggested_kind, code.other_kind) == ("code", 3)


@pytest.mark.parametrize(
    ("metadata", "kind", "documents"),
    [
        ({"kind": "docs"}, "docs", 3),
        ({"kind": "code"}, "code", 1),
        ({"kind": "FAQ"}, "all", 4),
        ({"generated_from": "headings", "candidates": "all"}, "docs", 3),
        ({"generated_from": "docstrings"}, "code", 1),
        ({"total_commits_analyzed": 9, "candidates": "production"}, "code", 1),
        ({"total_commits_analyzed": 9, "candidates": "all"}, "all", 4),
    ],
)
def test_a_gold_set_declares_the_kind(
    metadata: dict[str, object], kind: str, documents: int, place: Path
) -> None:
    declared = replace(gold("docs/login.md", "src/login.py"), metadata=metadata)
    searched = check_targets(declared, Where(corpus=str(place)), match="exact").searched
    assert (searched.kind, searched.most) == (kind, documents)
    assert searched.kind_from == ("" if kind == "all" else "dataset")
    assert searched.suggested_kind == ""
    assert (searched.unresolved, searched.left_out) == (0, int(kind != "all"))
    chosen = Where(corpus=str(place), kind="all")
    assert check_targets(declared, chosen, match="exact").searched.most == 4


@pytest.mark.parametrize(
    ("paths", "where", "kind", "documents"),
    [
        (["docs/login.md"], Where(kind="all"), "all", 4),
        (["docs/login.md", "src/login.py"], Where(), "all", 4),
        (["docs/login.md"], Where(exclude=("old/",)), "all", 3),
        (["docs/login.md"], Where(include=("docs/",)), "all", 2),
        (["src/login.py"], Where(kind="code", include=("src/",)), "code", 1),
    ],
)
def test_options_override_the_targets(
    paths: list[str], where: Where, kind: str, documents: int, place: Path
) -> None:
    searched = check_targets(
        gold(*paths), where._replace(corpus=str(place)), match="exact"
    ).searched
    assert (searched.kind, searched.most) == (kind, documents)


def test_a_target_that_was_not_searched_has_a_reason(place: Path) -> None:
    where = Where(corpus=str(place), kind="docs")
    searched = check_targets(
        gold("docs/login.md", "src/login.py", "manual.bin", "gone.md"), where, match="exact"
    ).searched
    assert (searched.unresolved, searched.left_out, searched.lost_queries) == (1, 2, 1)
    assert searched.missing == ("gone.md",)
    assert searched.skipped_targets == {
        "manual.bin": "binary",
        "src/login.py": "of another kind; --kind all includes it",
    }
    assert searched.skipped == "skipped 1 file: 1 image or other asset"
    assert searched.skipped_files == {"binary": ["manual.bin"]}
    with pytest.raises(
        InputError, match=r"is searched, although all exist in .*; manual\.bin is binary"
    ):
        check_targets(gold("manual.bin"), where, match="exact")
    with pytest.raises(
        InputError, match=r"is searched: 1 left out, 1 not in .*; src/login\.py is of"
    ):
        check_targets(gold("src/login.py", "gone.md"), where, match="exact")


def test_an_empty_selection_is_an_error(place: Path) -> None:
    where = Where(corpus=str(place), include=("nowhere/",))
    with pytest.raises(InputError, match="--include nowhere/ selects none of the 4 documents"):
        check_targets(gold("docs/login.md"), where, match="exact")


def request_of(place: Path, **where: object) -> ExperimentRequest:
    return ExperimentRequest(
        gold=replace(gold("docs/login.md"), metadata={"kind": "docs"}),
        configurations=engine_configurations(["bm25"], k=10),
        where=Where(corpus=str(place), **where),  # type: ignore[arg-type]
        kind=ExperimentKind.EVALUATE,
        timed=0,
    )


def test_other_candidates_are_another_experiment(place: Path, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "karat.db"), new=True) as store:
        docs, every, same, fewer = (
            run_experiment(request_of(place, **where), store).experiment
            for where in (
                {},
                {"kind": "all"},
                {"kind": "docs"},
                {"exclude": ("old/",)},
            )
        )
    assert docs.id == same.id
    assert len({docs.id, every.id, fewer.id}) == 3
    recorded = docs.config["where"]
    assert isinstance(recorded, dict)
    assert Where.from_json(recorded).kind == "docs"
    assert docs.config["kind"] == "docs"
    # Records of earlier versions have no kind and searched all files.
    assert "kind" not in every.config["where"]  # type: ignore[operator]
    assert Where.from_json(every.config["where"]).kind == "all"  # type: ignore[arg-type]
    assert Where.from_json(fewer.config["where"]).exclude == ("old/",)  # type: ignore[arg-type]


def test_results_hold_only_selected_files(place: Path, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "karat.db"), new=True) as store:
        done = run_experiment(request_of(place, exclude=("old/",)), store)
    (answer,) = done.measured[0].run.answers()
    assert {hit.path for hit in answer.hits} == {"README.md", "docs/login.md"}
    assert done.measured[0].notes["skipped"] == "skipped 1 file: 1 image or other asset"


@pytest.mark.parametrize("recorded", [{}, {"corpus": "x"}, {**Where().to_json(), "files": 1}])
def test_damaged_records_are_rejected(recorded: dict[str, object]) -> None:
    with pytest.raises(InputError, match="the searched corpus is recorded as"):
        Where.from_json(recorded)


def test_pages_become_lines(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (place / "manual.txt").write_text("one\n\ftwo\nthree\n")
    where = Where(corpus=str(place))
    located = locate_pages(gold("manual.txt#page=2", "docs/login.md"), where)
    first, second = (query.targets[0] for query in located.queries())
    assert (first.path, first.start_line, first.end_line) == ("manual.txt", 2, 3)
    assert second == Target("docs/login.md")
    assert located.match == "lines"
    # A page that does not exist is missing, as a path is; the other targets count.
    wrong = locate_pages(gold("manual.txt#page=3", "docs/login.md"), where)
    searched = check_targets(wrong, where, match=wrong.match).searched
    assert (searched.targets, searched.unresolved) == (2, 1)
    assert searched.missing == ("manual.txt#page=3",)
    assert searched.suggestions == {
        "manual.txt#page=3": "manual.txt has no page 3 (query manual.txt#page=3)"
    }
    unpaged = gold("docs/login.md")
    assert locate_pages(unpaged, where) is unpaged


def test_a_target_that_is_left_out_stays_in_both_tables(place: Path) -> None:
    (place / "tests").mkdir()
    (place / "tests" / "test_login.py").write_text("def test(): pass")
    (place / ".github").mkdir()
    (place / ".github" / "run.sh").write_text("make test")
    data = gold("docs/login.md", "tests/test_login.py", ".github/run.sh", "src/login.py", "gone.md")
    where = Where(corpus=str(place), candidates="production", exclude=("src/",))
    check = check_targets(data, where, match="exact")
    assert (check.searched.targets, check.searched.unresolved, check.searched.left_out) == (5, 1, 3)
    assert check.searched.skipped_targets == {
        "tests/test_login.py": "a test; --candidates all includes it",
        ".github/run.sh": "hidden; hidden files are never searched",
        "src/login.py": "matched by --exclude",
    }
    assert [len(query.targets) for query in check.resolved.queries()] == [1, 1, 1, 1, 0]


def test_a_target_that_is_left_out_is_found_by_the_rule_that_matches_it(place: Path) -> None:
    where = Where(corpus=str(place), kind="docs")
    data = gold("docs/login.md", "login.py")
    searched = check_targets(data, where, match="suffix").searched
    assert (searched.unresolved, searched.left_out) == (0, 1)
