import pytest

from karat.extensions.mining.drafts import imperative


@pytest.mark.parametrize(
    ("form", "verb"),
    [
        ("Fixed", "fix"),
        ("fixes", "fix"),
        ("Adding", "add"),
        ("Simplified", "simplify"),
        ("Stopped", "stop"),
        ("Deferred", "defer"),
        ("Made", "make"),
        ("Wrote", "write"),
        ("Normalised", "normalize"),
        ("fix", "fix"),
        ("Show", "show"),
        ("Re-enabled", "re-enable"),
    ],
)
def test_a_form_becomes_its_verb(form: str, verb: str) -> None:
    assert imperative(form) == verb


@pytest.mark.parametrize(
    "word", ["Nested", "Logging", "Changes", "Session", "Tests", "raised1", ""]
)
def test_what_is_no_order(word: str) -> None:
    assert imperative(word) == ""
