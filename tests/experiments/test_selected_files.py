"""The candidates of an experiment: kind of file, globs, skipped targets, pages, and the record."""

from pathlib import Path

import pytest

from karat.errors import InputError
from karat.experiments.plan import engine_configurations
from karat.experiments.run import ExperimentRequest, run_experiment
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


def test_candidates_follow_the_kind_of_all_targets(place: Path) -> None:
    found = check_targets(gold("docs/login.md"), Where(corpus=str(place)), match="exact")
    searched = found.searched
    assert (searched.kind, searched.automatic, searched.other_kind) == ("docs", True, 1)
    assert (searched.most, searched.unresolved) == (3, 0)
    code = check_targets(gold("src/login.py"), Where(corpus=str(place)), match="exact").searched
    assert (code.kind, code.most, code.other_kind) == ("code", 1, 3)


@pytest.mark.parametrize(
    ("paths", "where", "kind", "documents"),
    [
        (["docs/login.md"], Where(kind="all"), "all", 4),
        (["docs/login.md", "src/login.py"], Where(), "all", 4),
        (["docs/login.md"], Where(exclude=("old/",)), "docs", 2),
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
    assert searched.unresolved == 3
    assert searched.skipped_targets == {
        "manual.bin": "binary",
        "src/login.py": "not selected by --candidates, --kind, --include or --exclude",
    }
    assert searched.skipped == "skipped 1 file: 1 image or other asset"
    assert searched.skipped_files == {"binary": ["manual.bin"]}
    with pytest.raises(InputError, match=r"manual\.bin was skipped: binary"):
        check_targets(gold("manual.bin"), where, match="exact")


def test_an_empty_selection_is_an_error(place: Path) -> None:
    where = Where(corpus=str(place), include=("nowhere/",))
    with pytest.raises(InputError, match="--include nowhere/ selects none of the 4 documents"):
        check_targets(gold("docs/login.md"), where, match="exact")


def request_of(place: Path, **where: object) -> ExperimentRequest:
    return ExperimentRequest(
        gold=gold("docs/login.md"),
        configurations=engine_configurations(["bm25"], k=10),
        where=Where(corpus=str(place), **where),  # type: ignore[arg-type]
        kind=ExperimentKind.EVALUATE,
        timed=0,
    )


def test_other_candidates_are_another_experiment(place: Path, tmp_path: Path) -> None:
    with open_store(str(tmp_path / "karat.db"), new=True) as store:
        docs, every, same, fewer = (
            run_experiment(request_of(place, **where), store).experiment
            for where in ({}, {"kind": "all"}, {"kind": "docs"}, {"exclude": ("old/",)})
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
    with pytest.raises(InputError, match=r"manual\.txt has no page 3"):
        locate_pages(gold("manual.txt#page=3"), where)
    unpaged = gold("docs/login.md")
    assert locate_pages(unpaged, where) is unpaged
