"""Write an engine as a YAML or JSON file that every command takes."""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from karat.engines.own_parameters import keywords
from karat.engines.placeholders import JSON_TEMPLATES, PARAMETERS, value_text
from karat.engines.spec import FILES, read_specs
from karat.errors import InputError
from karat.model.spec import Spec
from karat.system.files import write_text


def check_engine_file(path: str) -> None:
    """Raise InputError if an engine cannot be written to a file called *path*."""
    if not path.lower().endswith(FILES):
        raise InputError(f"{path}: expected a name that ends in {', '.join(FILES)}")


def write_engine(spec: Spec, path: str, *, comment: str = "") -> None:
    """Write *spec* to *path*; a YAML file begins with the line *comment*.

    In a command and in parameters, the folder of the file becomes ``{here}``, so that the file and
    a script beside it can move together. The file is read again: InputError says what cannot be
    stored.
    """
    check_engine_file(path)
    file = Path(path)
    options = _with_here({"engine": spec.name, **spec.params}, file.absolute().parent)
    if file.suffix.lower() == ".json":
        text = json.dumps(options, indent=2, ensure_ascii=False) + "\n"
    else:
        import yaml

        body = yaml.safe_dump(_texts(options), sort_keys=False, allow_unicode=True, width=100)
        text = f"# {comment}\n{body}" if comment else body
    write_text(path, text)
    (written,) = read_specs(path).values()
    if _comparable(written.params) != _comparable(spec.params):
        raise InputError(f"{path}: a file cannot hold the options of this engine")
    if keywords(written) != keywords(spec):
        raise InputError(
            f"{path}: YAML has texts only, and the class of this engine gets other values; write a "
            ".json file"
        )


def _with_here(options: Mapping[str, object], folder: Path) -> dict[str, object]:
    """Return *options* with ``{here}`` where :func:`karat.engines.spec.expand_here` reads it."""

    def moved(value: object) -> object:
        return value.replace(f"{folder}{os.sep}", "{here}/") if isinstance(value, str) else value

    result = dict(options)
    for key, value in options.items():
        if key == "command" and isinstance(value, list | tuple):
            result[key] = [moved(part) for part in value]
        elif key == PARAMETERS and isinstance(value, Mapping):
            result[key] = {name: moved(each) for name, each in value.items()}
        elif key == "over" and isinstance(value, Mapping):
            result[key] = _with_here(value, folder)
    return result


def _texts(value: object, key: str = "") -> object:
    """Return *value* as YAML can hold it: scalars are texts, and JSON with numbers is one."""
    if key in JSON_TEMPLATES and isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return {str(name): _texts(entry, str(name)) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_texts(entry) for entry in value]
    return value if value is None else value_text(value)


def _comparable(value: object, key: str = "") -> object:
    """Return *value* so that it equals what a file makes of it: scalars as texts, JSON parsed."""
    if key in JSON_TEMPLATES and isinstance(value, str):
        with suppress(ValueError):
            value = json.loads(value)
    if isinstance(value, Mapping):
        return {str(name): _comparable(entry, str(name)) for name, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_comparable(entry) for entry in value]
    return value if value is None else value_text(value)
