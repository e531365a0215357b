"""The files that an engine is made of: a program, its scripts, a Python module."""

import re
import sys
from collections.abc import Iterator, Mapping
from hashlib import file_digest
from importlib.util import find_spec
from inspect import getmodule
from pathlib import Path
from shutil import which

from karat.engines.placeholders import with_parameters
from karat.engines.registry import ENGINES
from karat.model.spec import Spec
from karat.registry import HERE

REFERENCE = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")
# Options that may name code of the user as ``module:attribute``.
CODE_OPTIONS = ("class", "chunker", "model")


def engine_files(spec: Spec) -> Iterator[str]:
    """Yield the files that an engine is made of: Python modules, or scripts of its command.

    What these import, read or call is not known.
    """
    if not ENGINES.is_own(spec.name):
        yield from _module_files(spec.name)
    for option in CODE_OPTIONS:
        value = spec.params.get(option)
        if isinstance(value, str) and REFERENCE.fullmatch(value):
            yield from _module_files(value)
    for word in _command(spec)[1:]:
        # An option may name a file too: --config=/search/fast.json
        for name in (word, word.partition("=")[2]):
            script = Path(name)
            if script.is_absolute() and _is_file(script):
                yield str(script)
    over = spec.params.get("over")
    if isinstance(over, Mapping):
        yield from engine_files(Spec("engine", str(over.get("engine", "")), dict(over)))


def engine_content(spec: Spec) -> dict[str, str]:
    """Return the SHA-256 of each file that an engine is made of, and of its program.

    Two runs of one specification with the same content may still differ: an engine can import
    other files, and ask services and indexes.
    """
    return {path: _digest(Path(path)) for path in {*_programs(spec), *engine_files(spec)}}


def _module_files(name: str) -> Iterator[str]:
    """Yield the file of ``module:attribute``, or of the plug-in engine called *name*."""
    module = name.partition(":")[0] if ":" in name else ""
    if not module and not ENGINES.is_adapter(name) and (info := ENGINES.find(name)):
        factory = info.factory
        defining_module = getmodule(factory)
        module = factory.partition(":")[0] if isinstance(factory, str) else ""
        if not module and defining_module is not None:
            module = defining_module.__name__
    if HERE not in sys.path:
        # As when the module is loaded.
        sys.path.append(HERE)
    try:
        spec = find_spec(module) if module else None
    except (ImportError, ValueError):
        spec = None
    if spec is not None and spec.origin and Path(spec.origin).is_file():
        yield spec.origin


def _programs(spec: Spec) -> Iterator[str]:
    """Yield the file of the program of a command, and of that of the engine in ``over``."""
    for name in _command(spec)[:1]:
        if program := which(name):
            yield program
    over = spec.params.get("over")
    if isinstance(over, Mapping):
        yield from _programs(Spec("engine", str(over.get("engine", "")), dict(over)))


def _command(spec: Spec) -> list[str]:
    try:
        command = with_parameters(spec.params).get("command")
    except ValueError:  # such an engine cannot be built
        return []
    return list(map(str, command)) if isinstance(command, list | tuple) else []


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False


def _digest(path: Path) -> str:
    """Return the hash of a file, "" if it cannot be read."""
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError:
        return ""
