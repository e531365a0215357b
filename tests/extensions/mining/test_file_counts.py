"""Files of many trees, counted like each tree alone."""

from typing import TYPE_CHECKING

from karat.corpus import classify
from karat.extensions.mining.file_counts import FileCount, count_files

if TYPE_CHECKING:
    from tests.git_history import Builder


def test_by_hand(history: "Builder") -> None:
    first = history.commit({"a.py": "1", "tests/test_a.py": "1", "odd\nname.py": "1"})
    same = history.commit({"a.py": "2"})
    later = history.commit({"tests/test_b.py": "1", "b.py": "1", "a.py": None})
    again = history.commit({"b.py": "2"})
    assert count_files(history.path, [first, same, later, again, first]) == {
        first: FileCount(2, 3),
        same: FileCount(2, 3),
        later: FileCount(2, 4),
        again: FileCount(2, 4),
    }


def test_nothing(history: "Builder") -> None:
    assert count_files(history.path, []) == {}


def test_in_any_order_like_each_tree_alone(history: "Builder") -> None:
    commits = [
        history.commit({f"{folder}/f{number}.py": "1", f"f{number // 2}.py": None})
        for number, folder in enumerate(("src", "tests", "src", "docs", "src/tests", "lib"))
    ]
    commits.append(history.commit({b"\xff.py": "1"}, branch="side", parents=[commits[1]]))
    for order in (commits, commits[::-1], commits[::2] + commits[1::2]):
        counts = count_files(history.path, order)
        for commit in commits:
            listed = history.git("ls-tree", "-r", "--name-only", commit).splitlines()
            tests = sum(classify(path).is_test for path in listed)
            assert counts[commit] == FileCount(len(listed) - tests, len(listed))
