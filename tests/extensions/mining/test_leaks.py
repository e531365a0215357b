import pytest
from hypothesis import given
from hypothesis import strategies as st

from karat.extensions.mining.words import Leak, leak

PATH = "django/contrib/gis/admin/widgets.py"


@pytest.mark.parametrize(
    ("query", "step"),
    [
        (f"clean {PATH} up", Leak.PATH),
        ("fix admin/widgets.py", Leak.PATH),
        ("fix django.contrib.gis.admin.widgets.Map", Leak.PATH),
        ("fix admin.widgets on reload", Leak.PATH),
        ("fix widgets.py", Leak.BASENAME),
        ("a widget is drawn twice", Leak.STEM),
        ("MapWidget is drawn twice", Leak.STEM),
        ("the admin shows it twice", Leak.PART),
        ("it is drawn twice", Leak.NONE),
        ("", Leak.NONE),
    ],
)
def test_the_ladder(query: str, step: Leak) -> None:
    assert leak(query, [PATH]) is step


def test_the_highest_step_of_any_target_counts() -> None:
    assert leak("fix tag.py", ["a/other.py", "b/tag.py"]) is Leak.BASENAME
    assert leak("fix tag.py", []) is Leak.NONE


def test_a_package_is_named_by_its_folder() -> None:
    assert leak("flask.json drops dates", ["src/flask/json/__init__.py"]) is Leak.PATH
    assert leak("JSON drops dates", ["src/flask/json/__init__.py"]) is Leak.STEM


def test_names_that_every_repository_has_tell_nothing() -> None:
    assert leak("fix the utils of the core", ["src/core/utils.py"]) is Leak.NONE


def test_all_words_of_a_name_are_needed() -> None:
    assert leak("a query", ["db/query_parser.py"]) is Leak.PART
    assert leak("the parser of a query", ["db/query_parser.py"]) is Leak.STEM


@given(st.text(), st.from_regex(r"[a-z]{4,9}/[a-z]{4,9}\.py", fullmatch=True))
def test_a_query_that_holds_the_path_always_leaks_it(query: str, path: str) -> None:
    assert leak(f"{query} {path}", [path]) is Leak.PATH
