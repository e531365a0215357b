"""The contract of extensions: a record whose every name can be loaded."""

# A suite of tests asserts outside of tests/, too.
# ruff: noqa: S101

import importlib
from collections.abc import Iterator

from karat.extension import Command, Extension


def targets(extension: Extension) -> Iterator[tuple[str, str]]:
    """Yield what *extension* adds and the ``module:attribute`` of it."""
    for group in (extension.commands, extension.remote):
        yield from ((f"command {name}", each.target) for name, each in group.items())
    for kind, table in extension.adds.items():
        yield from ((f"{kind} {name}", target) for name, target in table.items())
    yield from ((f"name {name}", target) for name, target in extension.names.items())


class ExtensionSuite:
    """The contract of an extension; a subclass provides the fixture ``extension``."""

    def test_is_a_record_with_a_name(self, extension: Extension) -> None:
        """Name and summary are what ``karat plugins`` lists."""
        assert isinstance(extension, Extension)
        assert extension.name
        assert extension.summary.endswith(".")

    def test_every_target_can_be_loaded(self, extension: Extension) -> None:
        """A target is imported on its first use; a wrong one would fail only then."""
        broken = []
        for what, target in targets(extension):
            module, _, attribute = target.partition(":")
            try:
                getattr(importlib.import_module(module), attribute)
            except (ImportError, AttributeError) as error:
                broken.append(f"{what}: {target}: {error}")
        assert broken == []

    def test_names_and_aliases_are_lower_case(self, extension: Extension) -> None:
        """Registries find a name in any case, because they store it in lower case."""
        tables = [*extension.adds.values(), *extension.aliases.values()]
        names = [name for table in tables for name in table]
        assert names == [name.lower() for name in names]

    def test_aliases_mean_objects_of_the_extension(self, extension: Extension) -> None:
        """An alias belongs to the extension that adds its object."""
        for kind, table in extension.aliases.items():
            assert set(table.values()) <= set(extension.adds.get(kind, {}))

    def test_commands_have_a_line_of_help(self, extension: Extension) -> None:
        """``karat --help-all`` prints one sentence about each command."""
        for command in (*extension.commands.values(), *extension.remote.values()):
            assert isinstance(command, Command)
            assert command.help.endswith(".")
            assert command.section

    def test_commands_start_with_click(self, extension: Extension) -> None:
        """The target of a command is a click command."""
        import click

        for command in (*extension.commands.values(), *extension.remote.values()):
            module, _, attribute = command.target.partition(":")
            loaded = getattr(importlib.import_module(module), attribute)
            assert isinstance(loaded, click.Command)
