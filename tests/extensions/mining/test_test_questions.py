"""The names of tests as queries for the code under test."""

import pytest

from karat.corpus.snapshot import mask_text
from karat.extensions.mining.questions.tests import (
    Definitions,
    SourceText,
    find_tests,
    questions_from_tests,
)
from karat.extensions.mining.questions.wording import Question

FILLER = "".join(f"\n\ndef test_colour_texture_and_weight_{n}():\n    helper()\n" for n in range(8))
CODE = SourceText(
    "src/shop/cookies.py",
    "def parse_expiry(text):\n    return text\n\n\nclass Signer:\n    def unsign(self):\n"
    "        return 1\n\n\ndef helper():\n    return 1\n",
    "python",
)


def asked(*sources: SourceText, code: tuple[SourceText, ...] = (CODE,)) -> list[Question]:
    tests = [test for source in sources for test in find_tests(source)]
    findings = questions_from_tests(tests, Definitions(code, tests))
    return [question for finding in findings.values() for question in finding.questions]


def test_a_function_of_python() -> None:
    text = "def test_expiry_with_two_digit_years():\n    assert parse_expiry('x') == 'x'\n"
    first, *others = asked(SourceText("tests/test_cookies.py", text + FILLER, "python"))
    assert first.text == "expiry with two digit years"
    (target,) = first.targets
    assert (target.path, target.symbol) == ("src/shop/cookies.py", "parse_expiry")
    assert (target.start_line, target.end_line) == (1, 2)
    assert {question.reason for question in others} == {"unresolved"}


def test_a_test_without_its_code_is_dropped() -> None:
    text = "def test_expiry_with_two_digit_years():\n    assert requests.get('x')\n"
    (question,) = asked(SourceText("tests/test_cookies.py", text, "python"))
    assert (question.reason, question.targets) == ("unresolved", ())


def test_a_name_that_many_places_define_is_dropped() -> None:
    text = "def test_expiry_with_two_digit_years():\n    assert parse_expiry('x') == 'x'\n"
    copies = tuple(CODE._replace(path=f"src/shop/copy{n}.py") for n in range(3))
    (question,) = asked(SourceText("tests/test_some.py", text, "python"), code=copies)
    assert question.reason == "unresolved"


def test_names_in_strings_do_not_count() -> None:
    text = "def test_expiry_with_two_digit_years():\n    run('parse_expiry(x)')\n"
    (question,) = asked(SourceText("tests/test_cookies.py", text, "python"))
    assert question.reason == "unresolved"


@pytest.mark.parametrize(
    ("path", "language", "text", "words"),
    [
        (
            "cookie_test.go",
            "go",
            "package a\n\nfunc TestParseExpiryKeepsZone(t *testing.T) {\n\tParseExpiry(1)\n}\n",
            "parse expiry keeps zone",
        ),
        (
            "test/cookies.js",
            "javascript",
            "describe('cookies(x)', () => {\n  it('should keep zones', () => {\n"
            "    parseExpiry(1)\n  })\n})\n",
            "cookies keep zones",
        ),
        (
            "spec/cookies_spec.rb",
            "ruby",
            "describe 'x' do\n  it 'keeps the zone of expiry dates' do\n    parse_expiry(1)\n"
            "  end\nend\n",
            "keeps the zone of expiry dates",
        ),
        (
            "CookiesTest.java",
            "java",
            "class CookiesTest {\n  @Test\n  void expiryKeepsZoneOfDate() {\n"
            "    parseExpiry(1);\n  }\n  void helper() {\n  }\n}\n",
            "expiry keeps zone of date",
        ),
        (
            "tests/test_cookies.py",
            "python",
            "class TestCookieExpiry:\n    def test_zone(self):\n        parse_expiry(1)\n",
            "cookie expiry zone",
        ),
    ],
)
def test_names_in(path: str, language: str, text: str, words: str) -> None:
    (test,) = find_tests(SourceText(path, text, language))
    assert test.words == words
    assert {"parseExpiry", "parse_expiry", "ParseExpiry"} & test.used


def test_tests_inside_of_production_code_are_masked() -> None:
    text = (
        "pub fn parse_expiry(x: u8) -> u8 {\n    x\n}\n\n#[cfg(test)]\nmod tests {\n"
        "    #[test]\n    fn parse_expiry_keeps_the_zone() {\n        parse_expiry(1);\n    }\n}\n"
    )
    source = SourceText("src/cookies.rs", text, "rust")
    tests = find_tests(source, inline=True)
    finding = questions_from_tests(tests, Definitions([source], tests))["src/cookies.rs"]
    (question,) = finding.questions
    assert (question.text, question.targets[0].symbol) == (
        "parse expiry keeps the zone",
        "parse_expiry",
    )
    masked = mask_text(text, finding.masks[0])
    assert "zone" not in masked
    assert "pub fn parse_expiry" in masked
    assert find_tests(CODE, inline=True) == []
