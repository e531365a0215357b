"""Cases are drawn, looked at, and replaced where they prove to be none."""

from collections.abc import Callable, Collection
from typing import TYPE_CHECKING

import pytest

from karat.extensions.mining.commits import Candidate, UnreadableCommits
from karat.extensions.mining.filters import CaseLimits, Filters, select
from karat.extensions.mining.sampling import SampledCases, Sampling, sample_cases
from karat.extensions.mining.scan import scan

if TYPE_CHECKING:
    from tests.git_history import Builder

Fits = Callable[[Candidate], bool]


def drawn(
    history: "Builder",
    limit: int = 0,
    *,
    seed: int = 0,
    filters: Filters = Filters(),  # noqa: B008 - it never changes
    fits: Fits = lambda _: True,
    unreadable: UnreadableCommits | None = None,
    told: list[tuple[int, int]] | None = None,
) -> SampledCases:
    unreadable = unreadable or UnreadableCommits()
    selection = select(scan(history.path, unreadable=unreadable), filters)
    tell = (lambda done, total: told.append((done, total))) if told is not None else None
    drawing = Sampling(limit, seed, fits)
    return sample_cases(
        history.path, selection, filters, drawing, unreadable=unreadable, progress=tell
    )


def dropped(made: SampledCases, rules: Collection[str]) -> dict[str, int]:
    return {step.rule: step.dropped for step in made.waterfall.steps if step.rule in rules}


LAST = ("not-drawn", "too-hard", "unreadable", "code-equal")


def test_all_cases_newest_first(project: "Builder") -> None:
    made = drawn(project)
    assert [case.candidate.query.partition(" ")[0] for case in made.cases] == [
        *("show", "lock", "send", "warn", "round", "keep"),
    ]
    assert dropped(made, LAST) == {"not-drawn": 0, "too-hard": 0, "unreadable": 0, "code-equal": 1}
    assert made.waterfall.kept == len(made.cases)


@pytest.mark.parametrize("limit", range(1, 7))
def test_as_many_as_asked_for(project: "Builder", limit: int) -> None:
    told: list[tuple[int, int]] = []
    made = drawn(project, limit, told=told)
    assert len(made.cases) == made.waterfall.kept == limit
    assert told == [(done, limit) for done in range(1, limit + 1)]
    times = [case.candidate.commit.time for case in made.cases]
    assert times == sorted(times, reverse=True)
    assert made == drawn(project, limit)


def test_what_changes_no_code_is_replaced(project: "Builder") -> None:
    made = drawn(project, 6)
    assert (len(made.cases), dropped(made, LAST)["code-equal"]) == (6, 1)


def test_with_the_rule_off_a_comment_is_an_answer(project: "Builder") -> None:
    made = drawn(project, filters=Filters(off=frozenset({"code-equal"})))
    assert len(made.cases) == 7
    assert dropped(made, LAST)["code-equal"] == 0


def test_a_file_with_the_same_code_is_no_answer(history: "Builder") -> None:
    code = "def f():\n    return 1\n"
    history.commit({"a.py": code, "b.py": code}, "Start")
    changed = {"a.py": code.replace("1", "2"), "b.py": f"# Note.\n{code}"}
    history.commit(changed, "Count visitors twice in reports")
    (cases,) = drawn(history).cases
    assert [file.path for file in cases.files] == ["a.py"]
    two = drawn(history, filters=Filters(CaseLimits(min_files=2)))
    assert (two.cases, dropped(two, LAST)["code-equal"]) == ([], 1)


def test_what_does_not_fit_is_replaced(project: "Builder") -> None:
    made = drawn(project, 3, fits=lambda candidate: "cart" not in candidate.query)
    assert len(made.cases) == 3
    assert not any("cart" in case.candidate.query for case in made.cases)
    all_of_them = drawn(project, fits=lambda candidate: "cart" not in candidate.query)
    assert dropped(all_of_them, LAST)["too-hard"] == 2


def test_a_commit_that_cannot_be_read_costs_itself(project: "Builder") -> None:
    project.lose("main~5:shop/mail.py")
    unreadable = UnreadableCommits()
    made = drawn(project, unreadable=unreadable)
    assert len(made.cases) == 5
    assert dropped(made, LAST)["unreadable"] == 1


def test_a_file_that_is_no_text_is_no_answer(history: "Builder") -> None:
    history.commit({"a.py": "x = 1\n", "b.py": "x\0"}, "Start")
    history.commit({"b.py": "y\0"}, "Count visitors twice in reports")
    unreadable = UnreadableCommits()
    made = drawn(history, unreadable=unreadable)
    assert (made.cases, dropped(made, LAST)["unreadable"]) == ([], 1)
    assert unreadable.skipped == {"binary": 1}


def test_a_lost_file_that_is_no_target_costs_nothing(project: "Builder") -> None:
    project.lose("main~5:tests/test_4.py")
    unreadable = UnreadableCommits()
    made = drawn(project, unreadable=unreadable)
    assert (len(made.cases), unreadable.unreadable) == (6, [])


def test_a_lost_file_costs_nothing_where_another_one_moves(project: "Builder") -> None:
    moved = {"shop/cart.py": None, "shop/basket.py": "x = 1\n", "tests/test_1.py": "assert 1\n"}
    project.commit(moved, "Count visitors twice in reports")
    project.lose("main~1:tests/test_1.py")
    unreadable = UnreadableCommits()
    made = drawn(project, unreadable=unreadable)
    assert (len(made.cases), unreadable.unreadable) == (7, [])


@pytest.mark.parametrize("spelled", ["shop/bill.py", "shop/rechnung_ä.py"])
def test_a_file_that_is_rewritten_as_it_moves_is_followed(
    project: "Builder", monkeypatch: pytest.MonkeyPatch, spelled: str
) -> None:
    code = "".join(f"def f{number}():\n    return {number}\n" for number in range(9))
    project.commit({"shop/old.py": code}, "Start")
    moved = {"shop/old.py": None, spelled: code.replace("8", "9"), "docs/note.md": "Text.\n"}
    project.commit(moved, "Count visitors twice in reports")
    made = drawn(project)
    (file,) = made.cases[0].files
    assert (file.path, file.status, file.new_path) == ("shop/old.py", "R", spelled)
    assert [region[:3] for region in file.regions] == [(17, 18, 2)]
    monkeypatch.setattr("karat.extensions.mining.sampling._LONGEST", 0)
    assert drawn(project) == made
