"""Which commits become candidates, and which rule says why the others do not."""

import pytest

from karat.errors import InputError, UnknownName
from karat.extensions.mining.commits import Change, Commit
from karat.extensions.mining.filters import (
    CODE_EQUAL,
    CaseLimits,
    Filters,
    Selection,
    rule_table,
    select,
)

QUESTION = "Keep the session cookie of anonymous visitors"
FILE = "100644"


def change(path: str, status: str = "M", *, old: str = "", blobs: str = "ab") -> Change:
    before = "000000" if status == "A" else FILE
    return Change(status, path, old or path, blobs[0] * 40, blobs[1] * 40, before, FILE)


def commit(
    message: str = QUESTION,
    *changes: Change,
    number: int = 1,
    parents: int = 1,
    author: str = "Ada",
) -> Commit:
    made = changes or (change("src/session.py"),)
    ids = tuple(f"{parent:040x}" for parent in range(parents))
    return Commit(f"{number:040x}", ids, number, author, "ada@example.org", message, made)


def reason(made: Commit, filters: Filters | None = None) -> str:
    """Return the name of the rule that drops *made*, or "" where none does."""
    fall = select([made], filters or Filters()).waterfall
    return next((step.rule for step in fall.steps if step.dropped), "")


def test_a_good_commit_becomes_a_candidate() -> None:
    made = commit(QUESTION, change("src/session.py"), change("tests/a.py"), change("docs/a.md"))
    chosen = select([made]).candidates
    assert [candidate.query for candidate in chosen] == [
        "keep the session cookie of anonymous visitors"
    ]
    assert chosen[0].commit is made
    assert chosen[0].paths == ("src/session.py",)
    assert [test.path for test in chosen[0].related_tests] == ["tests/a.py"]


@pytest.mark.parametrize(
    ("rule", "made"),
    [
        ("merge", commit(parents=2)),
        ("bump", commit("follow the release of 2.0.0rc1 continue with 2.0.0rc2.dev")),
        ("bump", commit("Ready for another release")),
        ("bump", commit("Next version will be 3.1 beta")),
        ("short", commit("Automated merge with ssh://team@example.org/shop")),
        ("vague", commit("check in todays jinja changes")),
        ("vague", commit("looking for a jinja memleak")),
        ("short", commit("globset: fix paths", change("crates/globset/src/lib.rs"))),
        ("no-source", commit("Use uv for dependency management", change(".devcontainer/a.sh"))),
        ("no-source", commit(QUESTION, change("src/.cache/a.py"))),
        ("root", commit(parents=0)),
        ("bot", commit(author="dependabot[bot]")),
        ("tests-only", commit(QUESTION, change("tests/a.py"))),
        ("docs-only", commit(QUESTION, change("docs/a.rst"), change("README.md"))),
        ("examples-only", commit(QUESTION, change("examples/a.py"))),
        ("build-only", commit(QUESTION, change("setup.py"))),
        ("config-only", commit(QUESTION, change("tox.ini"))),
        ("lock-only", commit(QUESTION, change("uv.lock"))),
        ("generated-only", commit(QUESTION, change("api/user_pb2.py"))),
        ("vendored-only", commit(QUESTION, change("vendor/a/b_test.go"))),
        ("no-source", commit(QUESTION, change("tests/a.py"), change("docs/a.rst"))),
        ("no-source", commit(QUESTION, change("logo.png"))),
        ("no-source", commit(QUESTION, change("a.py", blobs="aa"))),
        ("added-only", commit(QUESTION, change("src/new.py", "A"), change("tests/a.py"))),
        ("moved-only", commit(QUESTION, change("b.py", "R", old="a.py", blobs="aa"))),
        ("many-files", commit(QUESTION, *(change(f"src/{n}.py") for n in range(11)))),
        ("revert", commit('Revert "Keep the session cookie"')),
        ("revert", commit("Backed out the session cookie of visitors")),
        ("bump", commit("Bump werkzeug from 2.0 to 2.1")),
        ("bump", commit("2013.06.13, Version 0.10.11 (Stable)")),
        ("bump", commit("Update the jinja runtime to 3.1.2")),
        ("layout", commit("Fix trailing whitespace in the session cookie module")),
        ("layout", commit("Fix a typo in the session cookie handling")),
        ("maintenance", commit("docs: explain the session cookie of visitors")),
        ("maintenance", commit("Add tests for the session cookie of visitors")),
        ("maintenance", commit("Refactored the session cookie of visitors")),
        ("maintenance", commit("change session_cookie -> visitor_cookie")),
        ("maintenance", commit("Remove unused session cookie code paths")),
        ("maintenance", commit("chore(cookies): sign the session of visitors")),
        ("maintenance", commit("Use dict literal syntax for the session cookie")),
        ("distant", commit("The second part of signing session cookies of visitors")),
        ("distant", commit("Finish moving session cookies of visitors")),
        ("distant", commit("Resolve merge conflict in session cookies of visitors")),
        ("distant", commit("Fix the session cookie since 533532302ae842c9")),
        ("distant", commit("Fix a mistake in my previous commit about sessions")),
        ("distant", commit("Change [8318] to also work with session cookies")),
        ("vague", commit("Tweaked the session to skip :internal: cookies")),
        ("maintenance", commit("session: rename the cookie of visitors")),
        ("vague", commit("Various session cookie improvements everywhere")),
        ("short", commit("Fix an issue with cookies")),
        ("vague", commit("Small changes to the session cookie of visitors")),
        ("tangled", commit("Fixed session cookies of visitors and improved logging")),
        ("short", commit("Extended URL generation")),
        ("short", commit("Fixes #10")),
        ("short", commit("vim-patch:7.4.2071")),
        ("long", commit("keep " + "session cookie visitors " * 20)),
        ("foreign", commit("corrige le cookie de session dans les formulaires")),
        ("path-only", commit("Remove src.session.cookies", change("src/session/cookies.py"))),
    ],
    ids=lambda value: value if isinstance(value, str) else value.message[:30],
)
def test_why_a_commit_is_no_case(rule: str, made: Commit) -> None:
    assert reason(made) == rule
    assert rule in rule_table()


@pytest.mark.parametrize(
    "message",
    [
        "Let the test client follow redirects",
        "Add comment moderation via admin actions",
        "Fix number formatting of negative decimals",
        "Raise an error when a blueprint registers twice",
        "Backport the parser of nested queries",
        'Hide the "Save and add another" button of visitors',
        "Build the session cookie of visitors: keep its path",
    ],
)
def test_words_that_only_look_like_maintenance(message: str) -> None:
    assert reason(commit(message)) == ""


@pytest.mark.parametrize(
    ("message", "query"),
    [
        ("globset: escape a backslash in classes", "escape a backslash in classes"),
        ("globset, glob: Fixed escapes of nested classes", "fix escapes of nested classes"),
        ("globset/glob: escape a backslash in classes", "escape a backslash in classes"),
        ("feat(globset): escape a backslash in classes", "escape a backslash in classes"),
        ("printer: escape a backslash in classes", "printer: escape a backslash in classes"),
        ("show release notes in the page footer", "show release notes in the page footer"),
    ],
)
def test_a_scope_that_is_in_the_path_leaves_the_query(message: str, query: str) -> None:
    target = change("crates/globset/src/glob.rs")
    filters = Filters(off=frozenset({"maintenance"}))
    (candidate,) = select([commit(message, target)], filters).candidates
    assert candidate.query == query


def test_a_release_process_is_not_a_release() -> None:
    assert reason(commit("Fall back to the latest stable release on network errors")) == ""


def test_a_rule_can_be_turned_off() -> None:
    made = commit("Refactored the session cookie of visitors")
    assert reason(made, Filters(off=frozenset({"maintenance"}))) == ""


def test_with_docs_only_off_docs_are_targets() -> None:
    made = commit(QUESTION, change("docs/sessions.rst"))
    chosen = select([made], Filters(off=frozenset({"docs-only"}))).candidates
    assert chosen[0].paths == ("docs/sessions.rst",)


def test_without_a_target_there_is_no_case_whatever_is_off() -> None:
    made = commit(QUESTION, change("logo.png"))
    chosen = select([made], Filters(off=frozenset(rule_table())))
    assert not chosen.candidates
    assert chosen.waterfall.kept == 0


def test_an_unknown_rule_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match="did you mean 'merge'"):
        select([], Filters(off=frozenset({"merges"})))


def test_a_pattern_that_means_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="expected patterns as in"):
        select([], Filters(exclude=("!",)))


def test_an_excluded_file_leaves_the_truth_and_not_the_commit() -> None:
    made = commit(QUESTION, change("src/session.py"), change("src/legacy/old.py"))
    chosen = select([made], Filters(exclude=("src/legacy/*",))).candidates
    assert chosen[0].paths == ("src/session.py",)
    assert reason(made, Filters(exclude=("*.py",))) == "no-source"


def test_limits_count_target_files() -> None:
    made = commit(QUESTION, change("src/a.py"), change("tests/a.py"))
    assert reason(made, Filters(CaseLimits(min_files=2))) == "few-files"
    assert reason(made, Filters(CaseLimits(max_files=1))) == ""


def test_a_link_and_a_submodule_are_no_targets() -> None:
    link = change("src/a.py")._replace(old_mode="120000")
    assert reason(commit(QUESTION, link)) == "no-source"


def subjects(selection: Selection) -> list[int]:
    return [candidate.commit.time for candidate in selection.candidates]


@pytest.mark.parametrize(
    "revert",
    [
        'Revert "Keep the session cookie of anonymous visitors"',
        f"Undo it\n\nThis reverts commit {1:040x}.",
        f"Reverts {1:040x}"[:40],
    ],
)
@pytest.mark.parametrize("newest_first", [True, False])
def test_what_a_later_commit_takes_back_is_dropped(revert: str, newest_first: bool) -> None:
    made = [commit(number=1), commit(revert, number=2)]
    chosen = select(made[::-1] if newest_first else made)
    assert not chosen.candidates
    assert {rule: dropped for rule, dropped, _ in chosen.waterfall.rows()}["reverted"] == 1


def test_what_was_taken_back_before_stays() -> None:
    made = [commit(number=5), commit('Revert "Keep the session cookie of anonymous visitors"')]
    assert subjects(select(made)) == [5]


def test_of_two_that_ask_the_same_the_oldest_stays() -> None:
    made = [commit(number=9), commit(f"[1.2] {QUESTION}.", number=3), commit(number=7)]
    chosen = select(made)
    assert subjects(chosen) == [3]
    assert chosen.waterfall.steps[-1].dropped == 2


def test_the_waterfall_adds_up() -> None:
    made = [commit(parents=2), commit(number=2), commit("wip", number=3)]
    fall = select(iter(made)).waterfall
    assert (fall.total, fall.kept) == (3, 1)
    assert list(fall.rows())[-1][2] == 1
    asked = [name for name in rule_table() if name != CODE_EQUAL]
    asked.insert(asked.index("revert"), "no-target")
    assert [step.rule for step in fall.steps] == asked
    assert fall.then("code-equal", "it changes no code", 1).kept == 0
