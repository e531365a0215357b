"""Templates with placeholders for the query, and secrets from the environment."""

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from urllib.parse import quote

from karat.errors import InputError

__all__ = [
    "SENSITIVE",
    "Secrets",
    "check_template",
    "excerpt",
    "fill",
    "fill_value",
    "names_of",
    "words",
]

# ``{{query}}`` is the text ``{query}``; other braces stand for themselves.
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\{(env:\w+|[a-z]\w*)\}")
SENSITIVE = re.compile(
    r"auth|token|secret|passw|cookie|credential|api[-_]?key|(^|[-_])key$", re.IGNORECASE
)
SHORTEST_SECRET = 4


def names_of(text: str) -> list[str]:
    """Return the names in braces.

    >>> names_of("--max={k} {{query}} {env:TOKEN}")
    ['k', 'env:TOKEN']
    """
    return [match[2] for match in PLACEHOLDER.finditer(text) if match[2]]


def check_template(value: object, known: tuple[str, ...], *, env: bool = False) -> None:
    """Raise ValueError where a text within *value* has a name in braces that is not *known*."""
    if isinstance(value, Mapping):
        for entry in value.values():
            check_template(entry, known, env=env)
    elif isinstance(value, list | tuple):
        for entry in value:
            check_template(entry, known, env=env)
    elif isinstance(value, str):
        for name in names_of(value):
            if name in known or (env and name.startswith("env:")):
                continue
            near = get_close_matches(name, known, n=1)
            hint = f"did you mean {{{near[0]}}}?" if near else f"expected {_listed(known, env=env)}"
            raise ValueError(f"{{{name}}} is unknown; {hint} ({{{{{name}}}}} is the plain text)")


def _listed(known: tuple[str, ...], *, env: bool) -> str:
    names = [f"{{{name}}}" for name in known] + (["{env:NAME}"] if env else [])
    return ", ".join(names)


def fill(text: str, values: Mapping[str, str] | Callable[[str], str]) -> str:
    """Return *text* with every name in braces replaced, once: values are never read again.

    >>> fill("{query} in {root}", {"query": "{root}", "root": "/src"})
    '{root} in /src'
    """
    get = values if callable(values) else values.__getitem__
    return PLACEHOLDER.sub(lambda m: get(m[2]) if m[2] else f"{{{m[1]}}}", text)


def fill_value(value: object, values: Callable[[str], str], *, k: int) -> object:
    """Return *value* with all its texts filled; a text that is just ``{k}`` becomes the number."""
    if isinstance(value, Mapping):
        return {key: fill_value(entry, values, k=k) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [fill_value(entry, values, k=k) for entry in value]
    if value == "{k}":
        return k
    return fill(value, values) if isinstance(value, str) else value


def words(query: str) -> list[str]:
    """Return the distinct words of *query* in lower case, those of one letter left out.

    >>> words("Where is a login? LOGIN!")
    ['where', 'is', 'login']
    """
    words = dict.fromkeys(word.lower() for word in re.findall(r"\w+", query))
    return [word for word in words if len(word) > 1] or list(words)


class Secrets:
    """Values from the environment, which :meth:`scrub` takes out of any text that is shown.

    >>> secrets = Secrets({"TOKEN": "s3cret"})
    >>> secrets.get("TOKEN"), secrets.scrub("401: s3cret is wrong")
    ('s3cret', '401: {env:TOKEN} is wrong')
    """

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ
        self._used: dict[str, str] = {}

    def get(self, name: str) -> str:
        """Return the variable *name*, or raise InputError."""
        value = self._environ.get(name)
        if not value:
            raise InputError(f"the environment variable {name} is not set")
        self._used[value] = name
        return value

    def expand(self, text: str) -> str:
        """Return *text* with each ``{env:NAME}`` replaced by its value."""
        return fill(text, lambda name: self.get(name.removeprefix("env:")))

    def scrub(self, text: str) -> str:
        """Return *text* without the values that were used."""
        for value, name in sorted(self._used.items(), key=lambda item: -len(item[0])):
            if len(value) >= SHORTEST_SECRET:
                for form in {value, quote(value, safe=""), value.encode("unicode_escape").decode()}:
                    text = text.replace(form, f"{{env:{name}}}")
        return text


SHOWN = 160


def excerpt(text: str) -> str:
    """Return the beginning of *text* in quotes, as far as an error should show it."""
    return repr(text[:SHOWN] + ("..." if len(text) > SHOWN else ""))
