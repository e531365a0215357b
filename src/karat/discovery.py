"""Find the extensions: built in, of other distributions, and single files.

Built-in extensions are found by a scan of the folder ``karat/extensions``, so that a folder can be
removed or added without anything else. A broken one is an error. Extensions of others that cannot
be loaded are off; :func:`installed` has the reason, and :func:`on_problem` who reports it.
"""

import importlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib.machinery import ModuleSpec, SourceFileLoader
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from karat.errors import InputError, KaratError

if TYPE_CHECKING:
    from types import CodeType

# The variable with the files of --plugin; worker processes inherit it.
PLUGINS = "KARAT_PLUGINS"
GROUP = "karat.extensions"
FOLDER = "karat.extensions"
BUILT_IN = "built in"
# The one module name that a file has in every process, so that its records can be unpickled.
FILE_MODULE = "karat_plugin_"
# The registries of the core that have names of their own, by the kind of their objects. They are
# imported only to check the names that extensions of others add.
REGISTRIES = {
    "chunker": "karat.corpus.chunkers.chunking:CHUNKERS",
    "engine": "karat.engines.registry:ENGINES",
    "executor": "karat.experiments.executors.base:EXECUTORS",
    "format": "karat.formats.load:FORMATS",
    "matcher": "karat.scoring.matching.modes:MATCHERS",
    "metric": "karat.scoring.metrics.catalogue:METRICS",
    "schema": "karat.cli.output.show:SCHEMAS",
    "store": "karat.experiments.store.base:STORES",
    "vector_store": "karat.engines.vectors.store:VECTOR_STORES",
    "view": "karat.model.evaluation:VIEWS",
}


class Command(NamedTuple):
    """A command of ``karat``: *target* is the ``module:attribute`` of a click command.

    *help* is its line in ``karat --help-all``, below the title *section*: behind the command
    *after*, first if *after* is the title, or else at the end. In a *single_threaded* command,
    threads of numpy's linear algebra would cost more than they bring.
    """

    target: str
    help: str
    section: str
    after: str = ""
    single_threaded: bool = False


class Extension(NamedTuple):
    """An ability that can be removed; nothing that it names is imported before its first use.

    *commands* are its verbs on the command line, and *remote* those of ``karat --server``, where
    *remote_help* describes them. *adds* has objects by the kind of their registry:
    ``{"metric": {"two": "my_package.metric:TWO"}}``; *aliases* has further spellings of their
    names in the same form. *names* become attributes of the package ``karat``.
    *needs* lists other extensions without which this one is off.

    >>> Extension("two", "Two of the first hits.", adds={"metric": {"two": "my:TWO"}}).needs
    ()
    """

    name: str
    summary: str
    commands: Mapping[str, Command] = {}
    adds: Mapping[str, Mapping[str, str]] = {}
    aliases: Mapping[str, Mapping[str, str]] = {}
    names: Mapping[str, str] = {}
    needs: tuple[str, ...] = ()
    remote: Mapping[str, Command] = {}
    remote_help: str = ""


class InstalledExtension(NamedTuple):
    """An extension, where it comes from, and why it is off ("" if it is not)."""

    name: str
    origin: str
    extension: Extension | None
    problem: str = ""


class _State:
    """The extensions of this process; read again after :func:`add_files`."""

    extensions: tuple[InstalledExtension, ...] | None = None
    report: Callable[[str], None] | None = None


def installed() -> tuple[InstalledExtension, ...]:
    """Return every extension, built-in ones first, then those of other distributions and files."""
    if _State.extensions is None:
        built_in = list(_built_in())
        others = [*map(_load_distribution, _distributions()), *map(_load_file, plugin_files())]
        _State.extensions = checked([*built_in, *others])
        if _State.report:
            for one in _State.extensions:
                # A built-in one is off only where somebody has taken away another that it needs.
                if one.problem and one.origin != BUILT_IN:
                    _State.report(f"extension {one.name} ({one.origin}) is off: {one.problem}")
    return _State.extensions


def checked(extensions: Iterable[InstalledExtension]) -> tuple[InstalledExtension, ...]:
    """Return *extensions*; off are those that lack one they need, or add a name that is taken."""
    without_conflicts = list(_without_conflicts(_with_needs(list(extensions))))
    return tuple(_with_needs(without_conflicts))


def on_problem(report: Callable[[str], None]) -> None:
    """Call *report* with a line about each extension of others that is off, once, when loaded."""
    _State.report = report


def failures() -> list[str]:
    """Return a line about each extension that is off."""
    return [f"{one.name} ({one.problem})" for one in installed() if one.problem]


def file_of(name: str) -> str:
    """Return the plug-in file of the extension called *name*, "" if it is in no single file."""
    files = plugin_files()
    return next((one.origin for one in installed() if one.name == name and one.origin in files), "")


def commands() -> dict[str, Command]:
    """Return the commands of all extensions by their names."""
    return {name: one for extension in enabled() for name, one in extension.commands.items()}


def remote_commands() -> dict[str, Command]:
    """Return the commands of ``karat --server`` by their names."""
    return {name: one for extension in enabled() for name, one in extension.remote.items()}


def remote_help() -> str:
    """Return the text of ``karat --server URL --help`` above the commands."""
    return "\n\n".join(one.remote_help for one in enabled() if one.remote_help)


def objects(kind: str, *, own: bool = False) -> dict[str, str]:
    """Return the ``module:attribute`` of each object that extensions add to a registry.

    *own* leaves out the extensions of others.
    """
    return {
        name.lower(): target
        for one in installed()
        if one.extension and not one.problem and (not own or one.origin == BUILT_IN)
        for name, target in one.extension.adds.get(kind, {}).items()
    }


def aliases(kind: str) -> dict[str, str]:
    """Return the further spellings that extensions add to a registry, with the names they mean."""
    return {
        alias: name
        for extension in enabled()
        for alias, name in extension.aliases.get(kind, {}).items()
    }


def public_name(name: str) -> Any:
    """Return the object that an extension calls ``karat.NAME``, None if none does."""
    for extension in enabled():
        if target := extension.names.get(name):
            module, _, attribute = target.partition(":")
            return getattr(importlib.import_module(module), attribute)
    return None


def plugin_files() -> tuple[str, ...]:
    """Return the files of ``--plugin`` and ``plugins:``, as absolute paths."""
    return tuple(path for path in os.environ.get(PLUGINS, "").split(os.pathsep) if path)


def add_files(paths: Iterable[str]) -> None:
    """Add plug-in files to this process and to those that it starts.

    A file that does not exist or is no .py, or whose name another one has, is an InputError.
    """
    known = dict.fromkeys(plugin_files())
    for path in paths:
        if not os.path.isfile(path):  # noqa: PTH113 - pathlib loads slowly
            raise InputError(f"{path}: no such file; a plug-in is a Python file with EXTENSION")
        if not path.endswith(".py"):
            raise InputError(f"{path}: expected a Python file, whose name ends with .py")
        known[os.path.abspath(path)] = None  # noqa: PTH100
    modules: dict[str, str] = {}
    for path in known:
        other = modules.setdefault(_module_of(path), path)
        if other != path:
            raise InputError(f"plug-ins need different file names: {other} and {path}")
    os.environ[PLUGINS] = os.pathsep.join(known)
    _State.extensions = None
    install_finder()


def load_file(path: "str | os.PathLike[str]") -> Extension:
    """Return the extension in a plug-in file, or raise InputError with why it cannot be loaded."""
    file = os.path.abspath(path)  # noqa: PTH100 - pathlib loads slowly
    add_files([file])
    loaded = _load_file(file)
    if loaded.extension is None:
        raise InputError(f"{path}: {loaded.problem}")
    return loaded.extension


def enabled() -> Iterator[Extension]:
    """Yield every extension that is on."""
    return (one.extension for one in installed() if one.extension and not one.problem)


def _built_in() -> Iterator[InstalledExtension]:
    try:
        folders = importlib.import_module(FOLDER).__path__
    except ModuleNotFoundError:
        return  # a copy of the core alone
    for folder in folders:
        with os.scandir(folder) as entries:
            names = sorted(entry.name for entry in entries if entry.is_dir())
        for name in names:
            path = os.path.join(folder, name, "extension.py")  # noqa: PTH118
            if os.path.isfile(path):  # noqa: PTH113
                yield InstalledExtension(name, BUILT_IN, _built_in_record(name, path))


def _built_in_record(name: str, path: str) -> Extension:
    """Return the record in the file *path*, whose byte code is cached as by an import.

    `karat --help` reads all records. Importing each with its package would take three times as
    long, and the module is not needed: a record is plain data.
    """
    module = f"{FOLDER}.{name}.extension"
    names: dict[str, Any] = {"__name__": module, "__package__": f"{FOLDER}.{name}"}
    try:
        code = SourceFileLoader(module, path).get_code(module)
        exec(cast("CodeType", code), names)  # noqa: S102 - a file of this package
        record: Extension = names["EXTENSION"]
    except Exception as error:
        raise KaratError(
            f"{path}: cannot load Karat's own extension {name}: {type(error).__name__}: {error}; "
            "repair the file, or install Karat again"
        ) from error
    return record


def _distributions() -> Iterator[tuple[str, str, str]]:
    """Yield distribution, name and target of each entry point in the group ``karat.extensions``.

    Of a distribution that is found twice, as an editable installation leaves one, the first counts.
    importlib.metadata would do the same, and takes 20 ms to import.
    """
    known: set[str] = set()
    for folder in dict.fromkeys(sys.path):
        try:
            with os.scandir(folder or ".") as entries:
                infos = sorted(
                    entry.path
                    for entry in entries
                    if entry.name.endswith((".dist-info", ".egg-info"))
                )
        except OSError:
            continue
        for info in infos:
            try:
                with open(os.path.join(info, "entry_points.txt"), encoding="utf-8") as file:  # noqa: PTH118, PTH123
                    text = file.read()
            except OSError:
                continue
            origin = os.path.basename(info).rpartition(".")[0].replace("-", " ", 1)  # noqa: PTH119
            distribution = origin.partition(" ")[0].lower()
            if GROUP in text and distribution not in known:
                known.add(distribution)
                yield from ((origin, name, target) for name, target in _entries(text))


def _entries(text: str) -> Iterator[tuple[str, str]]:
    r"""Yield the entries of our group in the text of an ``entry_points.txt``.

    >>> list(_entries("[console_scripts]\na = b:c\n[karat.extensions]\ntwo = two.extension:IT\n"))
    [('two', 'two.extension:IT')]
    """
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == GROUP and "=" in line and not line.startswith(("#", ";")):
            name, _, target = line.partition("=")
            yield name.strip(), target.strip()


def _load_distribution(entry: tuple[str, str, str]) -> InstalledExtension:
    origin, name, target = entry
    module, _, attribute = target.partition(":")
    return _load(name, origin, module, attribute)


def _load_file(path: str) -> InstalledExtension:
    install_finder()
    module = _module_of(path)
    return _load(module.removeprefix(FILE_MODULE), path, module, "EXTENSION")


def _load(name: str, origin: str, module: str, attribute: str) -> InstalledExtension:
    try:
        loaded = getattr(importlib.import_module(module), attribute)
    except Exception as error:  # noqa: BLE001 - the code of somebody else
        return InstalledExtension(name, origin, None, f"{type(error).__name__}: {error}")
    if not isinstance(loaded, Extension):
        kind = type(loaded).__name__
        problem = f"{module}:{attribute} has type {kind}; expected karat.extension.Extension"
        return InstalledExtension(name, origin, None, problem)
    if problem := _malformed(loaded):
        return InstalledExtension(loaded.name, origin, None, problem)
    return InstalledExtension(loaded.name, origin, loaded)


def _malformed(record: Extension) -> str:
    """Return which field of a record has the wrong type, "" if none has.

    >>> _malformed(Extension("a", "A.", adds={"engine": {"mine": object}}))
    "adds['engine']['mine'] has type type; expected text module:attribute"
    >>> _malformed(Extension("a", "A.", needs="judges"))
    'needs has type str; expected tuple of names'
    """
    dictionary, target = (Mapping, "dictionary"), (str, "text module:attribute")
    command = (Command, "karat.extension.Command")
    tables: dict[str, tuple[object, tuple[type, str]]] = {
        "commands": (record.commands, command),
        "remote": (record.remote, command),
        "names": (record.names, target),
        "adds": (record.adds, dictionary),
        "aliases": (record.aliases, dictionary),
    }
    for field in ("adds", "aliases"):
        if isinstance(kinds := getattr(record, field), Mapping):
            tables |= {f"{field}[{kind!r}]": (table, target) for kind, table in kinds.items()}
    for field, (table, (expected, what)) in tables.items():
        if not isinstance(table, Mapping):
            return f"{field} has type {type(table).__name__}; expected dictionary"
        for name, one in table.items():
            if not isinstance(one, expected):
                return f"{field}[{name!r}] has type {type(one).__name__}; expected {what}"
    needs: object = record.needs
    if isinstance(needs, str):
        return "needs has type str; expected tuple of names"
    return ""


def _with_needs(extensions: list[InstalledExtension]) -> list[InstalledExtension]:
    """Turn off extensions that need one which is absent or off."""
    while True:
        on = {one.name for one in extensions if not one.problem}
        lacking = {
            index: missing
            for index, one in enumerate(extensions)
            if one.extension and not one.problem
            if (missing := [name for name in one.extension.needs if name not in on])
        }
        if not lacking:
            return extensions
        for index, missing in lacking.items():
            extensions[index] = extensions[index]._replace(problem=f"needs {', '.join(missing)}")


def _without_conflicts(extensions: list[InstalledExtension]) -> Iterator[InstalledExtension]:
    """Yield the extensions; one that adds a name of the core, or of an earlier one, is off."""
    owners: dict[tuple[str, str], str] = {}
    for one in extensions:
        if not one.extension or one.problem:
            yield one
            continue
        keys = [("extension", one.name), *_keys(one.extension)]
        foreign = one.origin != BUILT_IN
        taken = next((key for key in keys if key in owners or (foreign and _in_core(*key))), None)
        if taken is None:
            owners |= dict.fromkeys(keys, one.name)
            yield one
        else:
            what = f"{taken[0].replace('_', ' ')} {taken[1]!r}"
            owner = owners.get(taken, "Karat's core")
            yield one._replace(problem=f"the {what} exists already ({owner})")


def _in_core(kind: str, name: str) -> bool:
    """Return whether the core has an object of this *kind* and *name*.

    >>> _in_core("command", "score"), _in_core("name", "compare"), _in_core("metric", "map")
    (True, True, True)
    """
    if kind == "command":
        file = f"{name.replace('-', '_')}.py"
        return os.path.isfile(os.path.join(os.path.dirname(__file__), "cli", "commands", file))  # noqa: PTH113, PTH118, PTH120
    if kind == "name":
        return name in sys.modules["karat"].__all__
    if kind not in REGISTRIES:
        return False
    module, _, attribute = REGISTRIES[kind].partition(":")
    registry = getattr(importlib.import_module(module), attribute)
    return bool(registry.in_core(name))


def _keys(extension: Extension) -> Iterator[tuple[str, str]]:
    yield from (("command", name) for name in extension.commands)
    yield from (("remote command", name) for name in extension.remote)
    yield from (("name", name) for name in extension.names)
    for tables in (extension.adds, extension.aliases):
        for kind, table in tables.items():
            yield from ((kind, name.lower()) for name in table)


def _module_of(path: str) -> str:
    r"""Return the module name of a plug-in file.

    >>> _module_of("/home/ada/my-engine.py")
    'karat_plugin_my_engine'
    """
    stem = os.path.splitext(os.path.basename(path))[0]  # noqa: PTH119, PTH122
    return FILE_MODULE + "".join(sign if sign.isalnum() else "_" for sign in stem)


class _FileFinder:
    """Finds the modules of plug-in files."""

    @staticmethod
    def find_spec(name: str, _path: object = None, _target: object = None) -> ModuleSpec | None:
        """Return how to load the plug-in file whose module is *name*."""
        if not name.startswith(FILE_MODULE):
            return None
        from importlib.util import spec_from_file_location

        path = next((path for path in plugin_files() if _module_of(path) == name), None)
        return spec_from_file_location(name, path) if path else None


def install_finder() -> None:
    """Let this process import plug-in files by the names of their modules."""
    if _FileFinder not in sys.meta_path:
        sys.meta_path.append(cast("Any", _FileFinder))


if os.environ.get(PLUGINS):
    # A worker unpickles records of a plug-in file before anything asks for extensions.
    install_finder()
