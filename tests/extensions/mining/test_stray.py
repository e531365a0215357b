"""Words without their option: what was meant is shown, as a command to type."""

import shlex
from collections.abc import Callable
from subprocess import CompletedProcess

import pytest

Karat = Callable[..., CompletedProcess[str]]


@pytest.mark.parametrize(
    ("typed", "said", "meant"),
    [
        (
            "generate ../flask",
            "Unexpected ../flask: the repository needs --repo",
            "generate --repo ../flask",
        ),
        (
            "generate one --limit 5 two.json",
            "Unexpected one two.json: the repository needs --repo and the gold set needs -o",
            "generate --repo one --limit 5 -o two.json",
        ),
        (
            "generate --repo one two.json",
            "Unexpected two.json: the gold set needs -o",
            "generate --repo one -o two.json",
        ),
        (
            "generate one two -o gold.json",
            "Unexpected one two: the repository needs --repo",
            "generate --repo one --repo two -o gold.json",
        ),
        (
            "generate one one --repo two --output gold.json",
            "Unexpected one one: the repository needs --repo",
            "generate --repo one --repo one --repo two --output gold.json",
        ),
        (
            "carry gold.qrels HEAD",
            "Unexpected HEAD: the commit needs --to",
            "carry gold.qrels --to HEAD",
        ),
    ],
)
def test_the_option_is_named_and_the_command_written_out(
    karat: Karat, typed: str, said: str, meant: str
) -> None:
    done = karat(*shlex.split(typed))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines()[:2] == [f"error: {said}; type", f"  karat {meant}"]


def test_no_help_shows_what_takes_such_words(karat: Karat) -> None:
    output = karat("generate", "--help").stdout
    assert output.splitlines()[0] == "Usage: karat generate [OPTIONS]"
    assert "stray" not in output.lower()
