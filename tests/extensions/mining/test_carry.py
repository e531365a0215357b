"""A gold set follows its files, lines and definitions to a newer commit."""

from collections.abc import Callable
from random import Random
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from karat.errors import InputError
from karat.experiments.commit_check import check_presence
from karat.extensions.mining.carry import CarriedDataset, carry
from karat.extensions.mining.commits import diffs
from karat.model import Dataset, Query, Target
from karat.model.judgments import (
    JudgmentRecord,
    judgments_of,
    model_labels_of,
    with_judgments,
    with_model_labels,
)

if TYPE_CHECKING:
    from tests.git_history import Builder

LOGIN = "def login(user):\n    check(user)\n    return user\n"
LOGOUT = "\n\ndef logout(user):\n    forget(user)\n    return None\n"
PADDING = "".join(f"# line {number}\n" for number in range(20))


def carried(
    history: "Builder", *targets: Target, match: str = "lines", base: str = "main~1"
) -> CarriedDataset:
    data = Dataset.of([Query("q", "who", targets)], match=match)
    return carry(data, history.path, to="main", base=base)


def places(carried_set: CarriedDataset) -> list[tuple[str, int, int]]:
    return [
        (t.path, t.start_line, t.end_line) for q in carried_set.data.queries() for t in q.targets
    ]


def reasons(carried_set: CarriedDataset) -> list[str]:
    return [loss.reason for loss in carried_set.lost]


def test_renamed_files_and_moved_lines(history: "Builder") -> None:
    history.commit({"a.py": LOGIN + PADDING, "b.py": LOGIN, "c.py": LOGIN * 2})
    tip = history.commit(
        {"a.py": None, "lib/a.py": f"import os\n\n{LOGIN}{PADDING}", "c.py": LOGIN + "\n" + LOGIN}
    )
    carried_set = carried(
        history,
        Target("a.py", 2, 1, 3),
        Target("a.py"),
        Target("b.py", 1, 2, 3),
        Target("c.py", 1, 4, 6),
    )
    assert places(carried_set) == [
        ("lib/a.py", 3, 5),
        ("lib/a.py", 0, 0),
        ("b.py", 2, 3),
        ("c.py", 5, 7),
    ]
    assert (carried_set.commit, carried_set.renamed, carried_set.shifted, carried_set.lost) == (
        tip,
        2,
        2,
        (),
    )
    assert carried_set.data.extras[0]["base_commit"] == tip
    assert carried_set.data.grades[0] == 2


def test_the_part_that_is_left_is_kept(history: "Builder") -> None:
    lines = [f"line {number}\n" for number in range(1, 11)]
    history.commit({"a": "".join(lines)})
    lines[2:4] = ["other\n"] * 3
    lines[7:9] = []
    history.commit({"a": "".join(lines)})
    carried_set = carried(history, Target("a", 1, 3, 6), Target("a", 1, 2, 5), Target("a", 1, 3, 4))
    assert places(carried_set) == [("a", 6, 7), ("a", 2, 6)]
    assert reasons(carried_set) == ["all of its lines were removed or rewritten"]


def test_what_is_lost_says_why(history: "Builder") -> None:
    base = history.commit(
        {"gone.py": LOGIN, "link": "x\n", "image": "text\n", "f.py": LOGIN, "stays.py": "x = 1\n"}
    )[:12]
    history.commit(
        {
            "gone.py": None,
            "link": ("120000", "f.py"),
            "image": b"\0\1",
            "f.py": LOGIN.replace("login", "enter"),
        }
    )
    carried_set = carried(
        history,
        Target("gone.py"),
        Target("never.py"),
        Target("link"),
        Target("image", 1, 1, 1),
        Target("f.py", 1, 1, 3, "login"),
        Target("f.py", 1, 3, 4),
        Target("", symbol="login"),
        Target("stays.py"),
        Target("image"),
    )
    assert reasons(carried_set) == [
        "the file was deleted",
        f"no such file at its base commit {base}",
        "the file was replaced by a link or a submodule",
        "Git treats the file as binary, so its lines cannot be followed",
        "f.py does not define 'login'",
        f"the file did not have these lines at its base commit {base}",
        "nothing defines 'login' any more",
    ]
    assert places(carried_set) == [("stays.py", 0, 0), ("image", 0, 0)]
    assert carried_set.dropped == ()


def test_a_definition_is_followed_to_another_file(history: "Builder") -> None:
    history.commit({"a.py": LOGIN + PADDING + LOGOUT, "b.py": PADDING, "c.py": LOGOUT})
    history.commit({"a.py": PADDING + LOGOUT, "b.py": PADDING + LOGIN})
    carried_set = carried(
        history,
        Target("a.py", 1, 2, 3, "login"),
        Target("a.py", symbol="login"),
        Target("a.py", 1, 2, 2),
    )
    assert places(carried_set) == [("b.py", 21, 23), ("b.py", 0, 0)]
    assert reasons(carried_set) == ["all of its lines were removed or rewritten"]


def test_a_definition_that_has_come_to_two_files_is_lost(history: "Builder") -> None:
    history.commit({"a.py": LOGIN})
    history.commit({"a.py": None, "b.py": f"{LOGIN}{PADDING}", "c.py": f"{PADDING}{LOGIN}"})
    carried_set = carried(history, Target("a.py", 1, 1, 3, "login"), Target("a.py", symbol="exit"))
    assert reasons(carried_set) == ["the file was deleted"] * 2


def test_rewritten_lines_of_a_definition_are_the_definition(history: "Builder") -> None:
    history.commit({"a.py": LOGIN + PADDING})
    history.commit({"a.py": PADDING + "def login(name, *, key):\n    return name[key]\n"})
    carried_set = carried(history, Target("a.py", 1, 2, 3, "login"))
    assert places(carried_set) == [("a.py", 21, 22)]


def test_a_file_that_was_renamed_long_before(history: "Builder") -> None:
    old = LOGIN + PADDING + LOGOUT
    other = "".join(f"x{number} = {number}\n" for number in range(60))
    base = history.commit({"a.py": old})
    history.commit({"a.py": None, "b.py": f"import os\n{old}"})
    history.commit({"b.py": None, "c.py": f"import os\n{old}", "z.py": "z\n"})
    # By now it has little in common with the first version.
    history.commit({"c.py": f"import os\n{LOGIN}{other}"})
    targets = (Target("a.py", 1, 1, 3), Target("a.py", 1, 24, 26), Target("a.py", symbol="login"))
    carried_set = carried(history, *targets, base=base)
    assert places(carried_set) == [("c.py", 2, 4), ("c.py", 0, 0)]
    assert reasons(carried_set) == ["all of its lines were removed or rewritten"]
    (direct,) = dict(diffs(history.path, [f"{carried_set.commit} {base}"])).values()
    assert sorted(file.change.status for file in direct) == ["A", "A", "D"]


def test_a_file_that_was_renamed_and_has_nothing_in_common_any_more(history: "Builder") -> None:
    base = history.commit({"a[1].py": PADDING, "a1.py": "other\n"})
    history.commit({"a[1].py": None, "b.py": PADDING})
    history.commit({"b.py": "x = 1\n" * 90})
    carried_set = carried(history, Target("a[1].py"), Target("a[1].py", 1, 1, 2), base=base)
    assert places(carried_set) == [("b.py", 0, 0)]
    assert reasons(carried_set) == ["all of its lines were removed or rewritten"]


def test_a_definition_that_comes_back_after_its_file_was_deleted(history: "Builder") -> None:
    base = history.commit({"a.py": LOGIN, "b.py": PADDING})
    history.commit({"a.py": None})
    history.commit({"b.py": PADDING + LOGIN})
    carried_set = carried(history, Target("a.py", 1, 1, 3, "login"), Target("a.py"), base=base)
    assert places(carried_set) == [("b.py", 21, 23)]
    assert reasons(carried_set) == ["the file was deleted"]


def test_patterns_stay_as_long_as_they_match(history: "Builder") -> None:
    history.commit({"src/auth/a.py": LOGIN, "src/auth/b.py": PADDING, "src/mail/c.py": LOGOUT})
    history.commit(
        {
            "src/auth/a.py": None,
            "src/auth/b.py": None,
            "src/mail/c.py": None,
            "lib/auth/a.py": LOGIN,
            "lib/auth/b.py": PADDING,
            "lib/post.py": LOGOUT,
        }
    )
    carried_set = carried(
        history,
        Target("auth"),
        Target("mail/c"),
        Target("src/auth"),
        Target("", symbol="LOG"),
        match="akashic",
    )
    assert places(carried_set) == [("auth", 0, 0), ("lib/post.py", 0, 0), ("", 0, 0)]
    assert reasons(carried_set) == ["it now matches 2 files: lib/auth/a.py and lib/auth/b.py"]


def test_references_of_other_kinds(history: "Builder") -> None:
    history.commit({"docs/a.md": PADDING, "docs/b.md": LOGOUT, "c.md": "c\n", "docs/e.md": LOGIN})
    history.commit(
        {
            "docs/a.md": None,
            "docs/b.md": None,
            "d/new.md": PADDING,
            "d/b.md": LOGOUT,
            "x/c.md": "c\n",
        }
    )
    carried_set = carried(
        history,
        Target("a.md", ref="file_name"),
        Target("b.md", ref="file_name"),
        Target("c.md", ref="file_name"),
        Target("file:///x/docs/a.md", ref="uri"),
        Target("4711", ref="document_id"),
        match="document",
    )
    assert [path for path, _, _ in places(carried_set)] == [
        "new.md",
        "b.md",
        "file:///x/d/new.md",
        "4711",
    ]
    assert len(reasons(carried_set)) == 1
    assert reasons(carried_set)[0].startswith("2 files have this name at ")


def test_each_case_comes_from_its_own_commit(history: "Builder") -> None:
    one = history.commit({"a": "1\n2\n3\n"})
    two = history.commit({"a": "0\n1\n2\n3\n"})
    history.commit({"a": "-1\n0\n1\n2\n3\n"})
    three = (Target("a", 1, 3, 3), Target("a", 0, 1, 1))
    queries = [
        Query("two", "", three, extra={"base_commit": two}),
        Query("lost", "", three, extra={"base_commit": "4711"}),
        Query("one", "", three, {"sort": "x"}, {"base_commit": one, "kept": 1}),
        Query("again", "", three, extra={"base_commit": two[:12]}),
        Query("never", "", three[1:], extra={"base_commit": "4711"}),
    ]
    carried_set = carry(Dataset.of(queries, match="lines"), history.path, to="main")
    assert carried_set.data.query_ids == ("two", "one", "again", "never")
    assert places(carried_set) == [("a", line, line) for line in (4, 2, 5, 3, 4, 2)]
    assert carried_set.dropped == ("lost",)
    assert set(reasons(carried_set)) == {"the repository has no base commit '4711'"}
    assert carried_set.data.extras[1] == {"base_commit": carried_set.commit, "kept": 1}
    assert carried_set.data.tags == {"sort": ("", "x", "", "")}
    assert check_presence(carried_set.data, history.path).missing == ()


def test_judgments_go_along(history: "Builder") -> None:
    history.commit({"a": PADDING, "b": "b\n"})
    history.commit({"a": f"new\n{PADDING}", "b": None})
    moved, lost = Target("a", 2, 4, 5), Target("b", 0)
    judged = [
        JudgmentRecord(target, "ann", "2024-05-01T12:00:00Z", "why") for target in (moved, lost)
    ]
    query = with_judgments(Query("q", "who", (moved, lost)), judged)
    labels = [record._replace(judge="model", prompt="4711") for record in judged]
    query = with_model_labels(query, labels)
    carried_set = carry(Dataset.of([query], match="lines"), history.path, to="main", base="main~1")
    (query,) = carried_set.data.queries()
    (judgment,) = judgments_of(query)
    assert judgment == judged[0]._replace(target=Target("a", 2, 5, 6))
    assert query.targets == (judgment.target,)
    assert model_labels_of(query) == (labels[0]._replace(target=judgment.target),)


def test_targets_that_come_together_are_one(history: "Builder") -> None:
    history.commit({"a": "1\n2\n3\n"})
    history.commit({"a": "2\n"})
    carried_set = carried(history, Target("a", 1, 1, 2), Target("a", 3, 2, 3), Target("a", 2, 2, 2))
    assert [tuple(query.targets) for query in carried_set.data.queries()] == [
        (Target("a", 3, 1, 1),)
    ]


def test_where_a_set_comes_from_must_be_known(history: "Builder") -> None:
    history.commit({"a": "1\n"})
    data = Dataset.of([Query("q", "", (Target("a"),))], name="gold")
    with pytest.raises(InputError, match="gold: 1 of 1 queries have no base_commit"):
        carry(data, history.path, to="main")
    with pytest.raises(InputError, match="no revision 'v1'"):
        carry(data, history.path, to="v1", base="main")
    with pytest.raises(InputError, match="no revision 'v1'"):
        carry(data, history.path, to="main", base="v1")
    with pytest.raises(InputError, match="'judgments' is not a list"):
        judgments_of(Query("q", "", extra={"judgments": [{"path": "a"}]}))


# How a file is edited: some lines go, some come, blocks of them change places.
seeds = st.integers(0, 10**9)


def edited(lines: list[str], chance: Random, fresh: Callable[[], str]) -> list[str]:
    """Return *lines* after a few edits; a line that is changed is another line."""
    lines = list(lines)
    for _ in range(chance.randint(0, 4)):
        at = chance.randint(0, len(lines))
        end = min(at + chance.randint(0, 3), len(lines))
        what = chance.choice(["remove", "add", "change", "move"])
        block = lines[at:end]
        if what == "add":
            lines[at:at] = [fresh() for _ in range(chance.randint(1, 3))]
        else:
            lines[at:end] = [fresh() for _ in block] if what == "change" else []
        if what == "move":
            at = chance.randint(0, len(lines))
            lines[at:at] = block
    return lines


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seeds)
def test_a_line_that_is_carried_holds_the_same_text(
    new_history: Callable[[], "Builder"], seed: int
) -> None:
    chance = Random(seed)
    tokens = iter(range(10**6))

    def fresh() -> str:
        # A token of its own, after words that many lines share.
        return f"{chance.choice(['x = f()', 'return', '}', ''])} token{next(tokens)}\n"

    history = new_history()
    files = {f"f{number}": [fresh() for _ in range(chance.randint(1, 15))] for number in range(3)}
    first = dict(files)
    base = history.commit({path: "".join(lines) for path, lines in files.items()})
    for step in range(chance.randint(1, 4)):
        after = {
            (f"{path}-{step}" if chance.random() < 0.3 else path): edited(lines, chance, fresh)
            for path, lines in files.items()
            if chance.random() < 0.95
        }
        gone = dict.fromkeys(files.keys() - after.keys())
        history.commit({**gone, **{path: "".join(lines) for path, lines in after.items()}})
        files = after
    queries = []
    for path, lines in first.items():
        for number in range(1, len(lines) + 1):
            last = min(number + chance.randint(0, 3), len(lines))
            for end in {number, last}:
                target = Target(path, 1, number, end)
                queries.append(Query(f"{path}:{number}-{end}", "", (target,)))
    carried_set = carry(Dataset.of(queries, match="lines"), history.path, to="main", base=base)
    carried_targets = {query.id: query.targets[0] for query in carried_set.data.queries()}
    assert carried_targets.keys() | {loss.query_id for loss in carried_set.lost} == {
        query.id for query in queries
    }
    for query in queries:
        (old,) = query.targets
        lines = first[old.path][old.start_line - 1 : old.end_line]
        if query.id not in carried_targets:
            continue
        new = carried_targets[query.id]
        now = files[new.path][new.start_line - 1 : new.end_line]
        assert now[0] in lines
        assert now[-1] in lines
        if len(lines) == 1:
            assert now == lines
    assert check_presence(carried_set.data, history.path).missing == ()
