"""Names in braces in the texts of an adapter, and the parameters that give some of them a value."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches

# ``{{query}}`` is the text ``{query}``; other braces stand for themselves.
PLACEHOLDER = re.compile(r"\{\{(\w+)\}\}|\{(env:\w+|[a-z]\w*)\}")
SENSITIVE = re.compile(
    r"auth|token|secret|passw|cookie|credential|api[-_]?key|(^|[-_])key$", re.IGNORECASE
)

# The option with the values of names of one's own, and the options whose texts have them.
PARAMETERS = "parameters"
TEMPLATES = ("command", "env", "url", "headers", "body", "arguments")
JSON_TEMPLATES = ("body", "arguments")
# Names that adapters fill in themselves.
RESERVED = ("query", "k", "root", "words", "here")
PARAMETER = re.compile(r"[a-z]\w*")


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
            raise ValueError(
                f"{{{name}}} is unknown; {hint}, or give it a value, such as "
                f"{PARAMETERS}: {{{name}: ...}} ({{{{{name}}}}} is the plain text)"
            )


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


def json_template(value: object) -> object:
    """Return *value*, or the JSON that it holds as a text; YAML here has texts only."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError as error:
        raise ValueError(f"expected a mapping, or a text that holds JSON: {error}") from None


def literal_secrets(values: Mapping[str, object], what: str) -> None:
    """Raise ValueError where a *values* entry looks like a secret and is not ``{env:NAME}``.

    A configuration is shown, stored and hashed, so it must not contain a secret.
    """
    for key, value in values.items():
        if isinstance(value, Mapping):
            literal_secrets(value, what)
        elif isinstance(value, str) and SENSITIVE.search(key) and "{env:" not in value:
            raise ValueError(f"{what} {key!r} contains a secret; write {{env:NAME}} instead")


def with_parameters(options: Mapping[str, object]) -> dict[str, object]:
    """Return *options* with the values of their ``parameters`` in place of the names in braces.

    A value is read as if it stood there. In a body and in arguments a text that is only the name
    becomes a number or a truth value where the value is one. ValueError is raised for a name that
    adapters fill in themselves, and for a parameter that no text uses: it would do nothing.

    >>> options = {"command": ["find", "--size={size}", "{query}"], "parameters": {"size": 256}}
    >>> with_parameters(options)["command"]
    ['find', '--size=256', '{query}']
    >>> body = '{"q": "{query}", "size": "{size}"}'
    >>> with_parameters({"body": body, "parameters": {"size": "256"}})["body"]
    {'q': '{query}', 'size': 256}
    """
    values = options.get(PARAMETERS)
    if not isinstance(values, Mapping) or not values:
        return dict(options)
    _check_parameters(values)
    used = set(template_names(options))
    for name in values:
        if name not in used:
            there = [key for key in TEMPLATES if key in options]
            raise ValueError(
                f"no text uses the parameter {name!r}; write {{{name}}} in "
                f"{' or '.join(there) or ' or '.join(TEMPLATES)}, or remove it"
            )
    filled = dict(options)
    for key in TEMPLATES:
        if key in options:
            template = _parsed(key, options[key])
            filled[key] = _replaced(template, values, typed=key in JSON_TEMPLATES)
    return filled


def template_names(options: Mapping[str, object]) -> Iterator[str]:
    """Yield the names in braces in the texts of *options*, without those of adapters.

    >>> list(template_names({"url": "http://localhost:{port}/?q={query}", "hits": "{x}"}))
    ['port']
    """
    for key in TEMPLATES:
        for name in _names(_parsed(key, options.get(key))):
            if name not in RESERVED and not name.startswith("env:"):
                yield name


def _check_parameters(values: Mapping[str, object]) -> None:
    for name, value in values.items():
        if not PARAMETER.fullmatch(str(name)):
            raise ValueError(
                f"{name!r} is not the name of a parameter; expected letters, digits and '_', the "
                "first a small letter"
            )
        if name in RESERVED:
            raise ValueError(f"the parameter {name!r} has the name of a placeholder; rename it")
        if not isinstance(value, str | int | float):
            # pydantic reports a ValueError, and lets a TypeError pass.
            raise ValueError(  # noqa: TRY004
                f"the parameter {name!r} is not a text, a number or a truth value"
            )
    literal_secrets(values, "the parameter")


def _parsed(key: str, value: object) -> object:
    """Return the option *key*; JSON in a text is parsed, unless only its values make it JSON."""
    if key not in JSON_TEMPLATES:
        return value
    try:
        return json_template(value)
    except ValueError:
        return value


def _names(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield from names_of(value)
    elif isinstance(value, Mapping | list | tuple):
        for entry in value.values() if isinstance(value, Mapping) else value:
            yield from _names(entry)


def _replaced(value: object, values: Mapping[str, object], *, typed: bool) -> object:
    if isinstance(value, Mapping):
        return {key: _replaced(entry, values, typed=typed) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_replaced(entry, values, typed=typed) for entry in value]
    if not isinstance(value, str):
        return value
    whole = PLACEHOLDER.fullmatch(value)
    if typed and whole and whole[2] in values:
        return _scalar(value_text(values[whole[2]]))
    # Names without a value, and plain braces, are for the adapter.
    return PLACEHOLDER.sub(
        lambda match: value_text(values[match[2]]) if match[2] in values else match[0], value
    )


def value_text(value: object) -> str:
    """Return the value of a parameter as YAML has it.

    >>> value_text(True), value_text(256), value_text("small")
    ('true', '256', 'small')
    """
    return str(value).lower() if isinstance(value, bool) else str(value)


def _scalar(text: str) -> object:
    """Return the number or the truth value that JSON writes as *text*, or *text* itself.

    >>> _scalar("256"), _scalar("true"), _scalar("1.10")
    (256, True, '1.10')
    """
    try:
        value = json.loads(text)
    except ValueError:
        return text
    scalar = isinstance(value, bool | int | float) and json.dumps(value) == text
    return value if scalar else text
