"""Doc comments of many languages as queries: what is found, what is masked, what is dropped."""

from textwrap import dedent

import pytest

from karat.corpus.snapshot import mask_text
from karat.extensions.mining.questions.docstrings import docstring_questions
from karat.extensions.mining.questions.wording import (
    Question,
    check_query,
    first_sentences,
    plain_text,
)

SENTENCE = "Parse the expiry date of a cookie"

DOCUMENTED = {
    "python": '''
        def parse_expiry(text):
            """Parse the expiry date of a cookie.

            More words.
            """
            value = text.strip()
            return value
    ''',
    "go": """
        package cookies

        // ParseExpiry Parse the expiry date of a cookie. It is
        // not strict.
        func ParseExpiry(text string) string {
            return text
        }
    """,
    "javascript": """
        /**
         * Parse the expiry date of a cookie.
         *
         * @param {string} text
         */

        export function parseExpiry(text) {
          return text;
        }
    """,
    "typescript": """
        export class Cookies {
          /** Parse the expiry date of a cookie. */
          parseExpiry(text: string): string {
            return text;
          }
        }
    """,
    "rust": """
        /// Parse the expiry date of a `cookie`.
        ///
        /// # Panics
        #[inline]
        pub fn parse_expiry(text: &str) -> &str {
            text
        }
    """,
    "java": """
        class Cookies {
            /**
             * Parse the expiry date of a {@code cookie}.
             * @param text the header
             */
            @Override
            String parseExpiry(String text) {
                return text;
            }
        }
    """,
    "c": """
        /* Parse the expiry date of a cookie. */
        char *parse_expiry(char *text) {
            return text;
        }
    """,
    "cpp": """
        // Parse the expiry date of a cookie.
        template <typename T>
        T parse_expiry(T text) {
            return text;
        }
    """,
    "ruby": """
        class Cookies
          # Parse the expiry date of a +cookie+.
          def parse_expiry(text)
            text
          end
        end
    """,
    "php": """
        <?php
        /** Parse the expiry date of a cookie. */
        function parseExpiry($text) {
            return $text;
        }
    """,
    "csharp": """
        class Cookies {
            /// <summary>Parse the expiry date of a cookie.</summary>
            string ParseExpiry(string text) {
                return text;
            }
        }
    """,
}


def asked(text: str, language: str) -> list[Question]:
    finding = docstring_questions("f.x", dedent(text).lstrip("\n"), language)
    return [question for question in finding.questions if not question.reason]


@pytest.mark.parametrize("language", DOCUMENTED)
def test_a_definition_in(language: str) -> None:
    text = dedent(DOCUMENTED[language]).lstrip("\n")
    finding = docstring_questions("f.x", text, language)
    (question,) = finding.questions
    assert (question.text, question.reason) == (SENTENCE, "")
    (target,) = question.targets
    lines = text.split("\n")
    assert "arse" in "".join(lines[target.start_line - 1 : target.start_line + 2])
    assert "text" in "".join(lines[target.start_line : target.end_line])
    masked = mask_text(text, finding.masks[0])
    assert "expiry date" not in masked
    assert masked.count("\n") == text.count("\n")
    assert "return text" in masked or "text" in masked


def test_a_module_and_a_class() -> None:
    text = '''
        """Sign cookies with a rotating secret key."""

        class Signer:
            """Holds the secret keys of an application."""

            def sign(self): ...
    '''
    module, signer = asked(text, "python")
    assert (module.targets[0].start_line, module.targets[0].symbol) == (1, "")
    assert module.targets[0].end_line == 6
    assert (signer.targets[0].start_line, signer.targets[0].symbol) == (3, "Signer")


def test_the_package_comment_of_go_and_the_module_of_rust() -> None:
    go = "// Package web routes requests to handlers by prefix.\npackage web\n\nvar x = 1\n"
    assert asked(go, "go")[0].text == "routes requests to handlers by prefix"
    rust = "//! Routes requests to handlers by prefix.\n\nuse a::b;\nuse c::d;\n"
    assert asked(rust, "rust")[0].targets[0].start_line == 1


def test_a_body_that_is_only_a_docstring_stays_valid_python() -> None:
    text = 'class Gone(Exception):\n    """The article was withdrawn by its author."""\n\nx = 1\n'
    finding = docstring_questions("f.py", text, "python")
    assert finding.questions[0].reason == "nothing-left"
    masked = mask_text(text, finding.masks[0])
    assert masked == "class Gone(Exception):\n    ...\n\nx = 1\n"
    compile(masked, "f.py", "exec")


def test_a_comment_beside_code_is_not_masked() -> None:
    finding = docstring_questions("f.py", 'def f(): "Parse the date of a cookie"\n', "python")
    assert finding.questions == ()
    go = "package a\n\nvar x = 1 // Parse the date of a cookie\nfunc F() {\n}\n"
    assert docstring_questions("f.go", go, "go").questions == ()


def test_plain_comments_are_no_documentation_where_others_are_marked() -> None:
    text = "// Parse the expiry date of a cookie\nfunction f() {\n  return 1\n}\n"
    assert docstring_questions("f.js", text, "javascript").questions == ()


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no-description"),
        ("Copyright 2020 the authors of this great project", "no-description"),
        ("TODO: parse the expiry date of cookies", "no-description"),
        ("Deprecated: parse the expiry date of cookies", "no-description"),
        ("Return it", "too-short"),
        ("wraps parse_date formatDate getUserName", "identifiers"),
        (" ".join(f"word{chr(97 + n % 26)} cookie" for n in range(30)), "too-long"),
        ("Parse the expiry date of a cookie", ""),
    ],
)
def test_what_is_no_query(text: str, reason: str) -> None:
    assert check_query(text) == reason


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Open e.g. a file. Then close it.", "Open e.g. a file. Then close it"),
        (
            "Read all pending messages from the queue. Then stop.",
            "Read all pending messages from the queue",
        ),
        ("Read it:\n\n>>> read()", "Read it"),
        ("Read messages\n    from the queue\n\n    :param x: a", "Read messages from the queue"),
        ("Read messages\nArgs:\n  x: a", "Read messages"),
        ("@param x the first", ""),
    ],
)
def test_first_sentences(text: str, sentence: str) -> None:
    assert first_sentences(text) == sentence


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("a :class:`~a.b.Cookie` and :meth:`get`", "a Cookie and get"),
        ("see [the page](http://x) and `more <http://y>`__", "see the page and more"),
        ("{@link Gson#toJson json} or {@code x}", "Gson#toJson json or x"),
        ("**bold** *thin* _flat_ ``code`` __init__ a_b", "bold thin flat code __init__ a_b"),
        ("a <b>fat</b> |version|", "a fat version"),
    ],
)
def test_plain_text(text: str, plain: str) -> None:
    assert plain_text(text) == plain
