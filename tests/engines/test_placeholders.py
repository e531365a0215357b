"""Parameters stand for the texts that they replace, and one that does nothing is an error."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from karat.engines.content import engine_content
from karat.engines.placeholders import with_parameters
from karat.engines.spec import build, parse_spec, read_specs
from karat.errors import InputError
from karat.model.spec import Spec

COMMAND = {"engine": "command", "command": ["find", "{size}", "{query}"]}


@pytest.mark.parametrize(
    ("options", "filled"),
    [
        ({"command": ["a{size}", "{query}"]}, {"command": ["a256", "{query}"]}),
        ({"command": ["a"], "env": {"SIZE": "{size}"}}, {"command": ["a"], "env": {"SIZE": "256"}}),
        ({"url": "http://h:{size}/?q={query}"}, {"url": "http://h:256/?q={query}"}),
        ({"headers": {"X-Size": "{size}, {env:X}"}}, {"headers": {"X-Size": "256, {env:X}"}}),
        # Alone it is a number, within a text it is text; plain braces stay.
        (
            {"body": '{"n": "{size}", "t": ["{size}b", "{{size}}", 7]}'},
            {"body": {"n": 256, "t": ["256b", "{{size}}", 7]}},
        ),
        ({"arguments": {"n": "{size}"}}, {"arguments": {"n": 256}}),
        # JSON only with its value.
        ({"body": '{"n": {size}}'}, {"body": '{"n": 256}'}),
    ],
)
def test_values_replace_names(options: dict[str, object], filled: dict[str, object]) -> None:
    values = {"parameters": {"size": "256"}}
    assert with_parameters({**options, **values}) == {**filled, **values}
    # YAML has texts only, JSON numbers too.
    assert with_parameters({**options, "parameters": {"size": 256}})["parameters"] == {"size": 256}


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        (
            {"size": "1", "depth": "2"},
            r"no text uses the parameter 'depth'; write \{depth\} in com",
        ),
        ({"size": "1", "query": "2"}, "the parameter 'query' has the name of a placeholder"),
        ({"size": "1", "Big-One": "2"}, "'Big-One' is not the name of a parameter"),
        ({"size": None}, "the parameter 'size' is not a text, a number or a truth value"),
        ({"size": ["1"]}, "the parameter 'size' is not a text, a number or a truth value"),
        ({}, r"\{size\} is unknown; expected .*, or give it a value, such as parameters: \{size: "),
        ("256", "parameters: Input should be a valid dictionary"),
    ],
)
def test_what_is_refused(parameters: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        build({**COMMAND, "parameters": parameters})


def test_a_name_without_quotes_is_explained(tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text("engine: command\ncommand: [find, {query}]\n")
    with pytest.raises(
        InputError, match=r'write "\{query\}" with quotes; without them it is a map'
    ):
        build(parse_spec(str(tmp_path / "mine.yaml")))


@pytest.mark.parametrize(
    ("option", "value"),
    [("parameters", {"token": "abc"}), ("headers", {"Authorization": "Bearer {who}"})],
)
def test_secrets_stay_in_the_environment(option: str, value: Mapping[str, str]) -> None:
    options = {"engine": "http", "url": "http://localhost/?q={query}&t={token}{who}"}
    options["url"] = options["url"] if option == "parameters" else "http://localhost/?q={query}"
    parameters = {"who": "me"} | dict(value if option == "parameters" else {})
    with pytest.raises(InputError, match=r"contains a secret; write \{env:NAME\}"):
        build({**options, option: value, "parameters": parameters})


def test_a_file_named_by_a_parameter_is_part_of_the_engine(tmp_path: Path) -> None:
    for name in ("small", "large"):
        (tmp_path / f"{name}.json").write_text(f'"{name}"', encoding="utf-8")
    (tmp_path / "mine.yaml").write_text(
        'engine: command\ncommand: [cat, "--config={config}"]\n'
        'parameters: {config: "{here}/small.json"}\n',
        encoding="utf-8",
    )
    spec = read_specs(tmp_path / "mine.yaml")["mine"]
    small = str(tmp_path / "small.json")
    assert spec.params["parameters"] == {"config": small}
    assert small in engine_content(spec)
    # An engine that cannot be built has no files.
    assert "cat" not in str(engine_content(Spec("engine", "command", {"parameters": {"a": "b"}})))


def test_values_are_part_of_the_identity() -> None:
    specs = [parse_spec({**COMMAND, "parameters": {"size": size}}) for size in ("256", "512")]
    assert len({spec.digest for spec in specs}) == 2
