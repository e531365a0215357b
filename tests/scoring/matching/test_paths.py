"""Equal files have equal paths, and a path is compared at its separators."""

from unicodedata import is_normalized, normalize

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from karat.scoring.matching.modes import is_suffix, is_within, normalise

PARTS = st.text("abé.\u0301", min_size=1, max_size=3).filter(lambda part: part not in (".", ".."))
CLEAN = (
    st.lists(PARTS.map(lambda part: normalize("NFC", part)), min_size=1, max_size=4)
    .map("/".join)
    .map(lambda path: normalize("NFC", path))
    .filter(lambda path: not any(part == "." for part in path.split("/")))
)
ANY = st.text("ab./\\é\u0301", max_size=8)


@pytest.mark.parametrize(
    ("path", "root", "expected"),
    [
        ("src/auth.py", "", "src/auth.py"),
        (r".\src\auth.py", "", "src/auth.py"),
        ("././src//auth.py", "", "src/auth.py"),
        ("src/auth/", "", "src/auth"),
        ("src/.", "", "src"),
        ("src/.git/x", "", "src/.git/x"),
        ("a./b", "", "a./b"),
        ("/", "", "/"),
        ("/repo/src/a.py", "", "/repo/src/a.py"),
        ("/repo/src/a.py", "/repo", "src/a.py"),
        ("/repo/src/a.py", "/repo/", "src/a.py"),
        ("/repo//src/a.py", "/repo", "src/a.py"),
        ("/./repo/src/a.py", "/repo", "src/a.py"),
        ("/repository/a.py", "/repo", "/repository/a.py"),
        ("/src/a.py", "/", "src/a.py"),
        (r"C:\repo\a.py", r"C:\repo", "a.py"),
        ("cafe\u0301.py", "", "caf\u00e9.py"),
        ("/cafe\u0301/a.py", "/caf\u00e9", "a.py"),
    ],
)
def test_one_spelling(path: str, root: str, expected: str) -> None:
    assert normalise(path, root) == expected


@settings(max_examples=50)
@given(ANY)
def test_normalising_twice_changes_nothing(path: str) -> None:
    once = normalise(path)
    assert normalise(once) == once
    assert is_normalized("NFC", once)
    assert "\\" not in once
    assert "//" not in once


@settings(max_examples=50)
@given(
    CLEAN, st.sampled_from(["/", "//", "/./", "\\", "\\.\\"]), st.sampled_from(["", "./", ".\\"])
)
def test_every_spelling_of_a_path_is_one_path(path: str, separator: str, lead: str) -> None:
    spelled = lead + normalize("NFD", path).replace("/", separator)
    assert normalise(spelled) == path


@settings(max_examples=50)
@given(CLEAN, CLEAN)
def test_below_the_root_a_path_is_relative(path: str, root: str) -> None:
    assert normalise(f"/{root}/{path}", f"/{root}") == path
    assert normalise(f"/{root}x/{path}", f"/{root}") == f"/{root}x/{path}"


@settings(max_examples=50)
@given(CLEAN, CLEAN)
def test_a_suffix_ends_at_a_separator_in_either_direction(left: str, right: str) -> None:
    short, long = sorted((left.split("/"), right.split("/")), key=len)
    expected = long[-len(short) :] == short
    assert is_suffix(left, right) == expected
    assert is_suffix(right, left) == expected
    assert is_suffix(f"{left}/{right}", right)
    assert not is_suffix(f"{left}x{right}", f"y{right}")


def test_an_absolute_path_ends_with_a_relative_one() -> None:
    assert is_suffix("/auth.py", "/repo/auth.py")
    assert not is_suffix("auth.py", "/repo/oauth.py")


@settings(max_examples=50)
@given(CLEAN, CLEAN)
def test_within_means_parts_in_common_and_more(path: str, directory: str) -> None:
    parts, above = path.split("/"), directory.split("/")
    assert is_within(path, directory) == (len(parts) > len(above) and parts[: len(above)] == above)
    assert is_within(f"{directory}/{path}", directory)
    assert is_within(f"{directory}/{path}", directory + "/")
    assert not is_within(f"{directory}x/{path}", directory)


def test_a_name_that_begins_alike_is_another_directory() -> None:
    assert is_within("src/auth/login.py", "src/auth")
    assert not is_within("src/authority/login.py", "src/auth")
    assert not is_within("src/auth", "src/auth")
