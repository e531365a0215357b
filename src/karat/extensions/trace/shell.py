"""Shell command lines as pipelines of programs, by the grammar of bash.

Words are unquoted, loops over literal words are unrolled, variables with a known value are
replaced. Text that a program gets as here-document is dropped: it is written, not read.
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from karat.corpus.chunkers.grammars import parse

if TYPE_CHECKING:
    from tree_sitter import Node

# A command line of an agent is never this long unless it writes a file.
LONGEST = 200_000
MOST_ROUNDS = 50
# What a command prints inside of $(...) becomes a word of another one.
SUBSTITUTED = "$()"
SCREEN = ("/dev/stdout", "/dev/stderr", "/dev/tty")
COMMANDS = frozenset(("command", "declaration_command", "unset_command", "test_command"))
# Children of a command that are none of its words.
ASIDE = frozenset(("variable_assignment", "file_redirect", "herestring_redirect"))
INSIDE = frozenset(
    (
        *("program", "list", "subshell", "compound_statement", "do_group", "if_statement"),
        *("elif_clause", "else_clause", "while_statement", "case_statement", "case_item"),
        *("negated_command", "function_definition"),
    )
)


class Program(NamedTuple):
    """A program with its arguments; *writes* is where its output goes instead of the screen."""

    words: tuple[str, ...]
    writes: str = ""

    @property
    def name(self) -> str:
        """Return the name without its folder."""
        return self.words[0].rpartition("/")[2] if self.words else ""


Pipeline = tuple[Program, ...]


def pipelines(text: str) -> list[Pipeline] | None:
    """Return the pipelines of a command line in order, None if the grammar does not accept it.

    >>> for each in pipelines("cd src && nl -ba a.py | sed -n '1,20p'; rg x 2>/dev/null"):
    ...     print([program.words for program in each])
    [('cd', 'src')]
    [('nl', '-ba', 'a.py'), ('sed', '-n', '1,20p')]
    [('rg', 'x')]
    >>> [each[0].words for each in pipelines('for f in a b; do cat "$f.py"; done')]
    [('cat', 'a.py'), ('cat', 'b.py')]
    """
    if len(text) > LONGEST:
        return None
    tree = parse(text, "bash")
    if tree is None:
        return None
    walk = _Walk(tree.data)
    found = list(walk.pipelines(tree.root, {}))
    return None if tree.root.has_error and not found else found


class _Walk:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def _text(self, node: "Node") -> str:
        return self._data[node.start_byte : node.end_byte].decode(errors="replace")

    def pipelines(self, node: "Node", known: dict[str, str]) -> Iterator[Pipeline]:
        if node.type in COMMANDS:
            if program := self._program(node, known):
                yield (program,)
            yield from self._substituted(node, known)
        elif node.type == "redirected_statement":
            yield from self._redirected(node, known)
        elif node.type == "pipeline":
            yield from self._piped(node, known)
        elif node.type == "variable_assignment":
            self._assign(node, known)
            yield from self._substituted(node, known)
        elif node.type == "for_statement":
            yield from self._loop(node, known)
        elif node.type in INSIDE or node.type == "ERROR":
            for child in node.named_children:
                yield from self.pipelines(child, known)

    def _piped(self, node: "Node", known: dict[str, str]) -> Iterator[Pipeline]:
        joined: list[Program] = []
        for child in node.named_children:
            inner = list(self.pipelines(child, known))
            # Of a group in a pipe, what it prints last is what flows on.
            yield from inner[:-1]
            if inner:
                joined += inner[-1]
        if joined:
            yield tuple(joined)

    def _redirected(self, node: "Node", known: dict[str, str]) -> Iterator[Pipeline]:
        body = node.child_by_field_name("body")
        inner = list(self.pipelines(body, known)) if body else []
        writes, extra, source = self._redirects(node, known)
        if inner and (extra or source):
            *first, last = inner[-1]
            last = last._replace(words=(*last.words, *extra))
            if source and not first:
                inner[-1] = (Program(("cat", source)), last)
            else:
                inner[-1] = (*first, last)
        for each in inner:
            yield (*each[:-1], each[-1]._replace(writes=writes)) if writes else each
        for redirect in node.named_children:
            if redirect.type == "heredoc_redirect":
                # A pipe after <<EOF is a child of the redirect.
                for child in redirect.named_children:
                    if child.type in ("pipeline", "list", "command"):
                        yield from self.pipelines(child, known)

    def _redirects(self, node: "Node", known: Mapping[str, str]) -> tuple[str, list[str], str]:
        """Return the file of the output, words behind it, and the file that is read."""
        writes, extra, source = "", [], ""
        for redirect in node.named_children:
            parts = [redirect]
            if redirect.type == "heredoc_redirect":
                parts = [
                    child for child in redirect.named_children if child.type == "file_redirect"
                ]
            for part in parts:
                if part.type != "file_redirect":
                    continue
                descriptor = part.child_by_field_name("descriptor")
                number = self._text(descriptor) if descriptor else ""
                goal = part.child_by_field_name("destination")
                name = self._word(goal, known) if goal else ""
                sign = next(
                    (self._text(child) for child in part.children if not child.is_named), ""
                )
                if sign == "<":
                    source = name
                elif sign.startswith((">", "&>")) and number in ("", "1") and sign != ">&":
                    writes = "" if name in SCREEN else name
                # The grammar takes words behind a redirect for further goals of it.
                goals = part.children_by_field_name("destination")
                extra += [self._word(word, known) for word in goals[1:]]
        return writes, extra, source

    def _loop(self, node: "Node", known: dict[str, str]) -> Iterator[Pipeline]:
        variable = node.child_by_field_name("variable")
        body = node.child_by_field_name("body")
        if variable is None or body is None:
            return
        values = [self._word(value, known) for value in node.children_by_field_name("value")]
        for value in values[:MOST_ROUNDS] or [""]:
            yield from self.pipelines(body, {**known, self._text(variable): value})

    def _assign(self, node: "Node", known: dict[str, str]) -> None:
        name, value = node.child_by_field_name("name"), node.child_by_field_name("value")
        if name and value and value.type != "command_substitution":
            known[self._text(name)] = self._word(value, known)

    def _substituted(self, node: "Node", known: dict[str, str]) -> Iterator[Pipeline]:
        """Yield the commands inside ``$(...)``; what they print is not shown by themselves."""
        for child in node.named_children:
            if child.type in ("command_substitution", "process_substitution"):
                for inner in child.named_children:
                    for each in self.pipelines(inner, known):
                        yield (*each[:-1], each[-1]._replace(writes=SUBSTITUTED))
            elif child.type in ("string", "concatenation", "command_name", "variable_assignment"):
                yield from self._substituted(child, known)

    def _program(self, node: "Node", known: Mapping[str, str]) -> Program | None:
        if node.type != "command":
            return Program((node.children[0].type,)) if node.children else None
        words = [
            self._word(child, known) for child in node.named_children if child.type not in ASIDE
        ]
        return Program(tuple(words)) if words and words[0] else None

    def _word(self, node: "Node", known: Mapping[str, str]) -> str:
        """Return the value of a word without its quotes."""
        if node.type == "raw_string":
            return self._text(node)[1:-1]
        if node.type in ("simple_expansion", "expansion"):
            text = self._text(node)
            return known.get(text.strip("${}"), text)
        if node.type == "word":
            return _unescaped(self._text(node))
        if node.type == "string_content":
            return self._text(node).replace('\\"', '"').replace("\\$", "$").replace("\\\\", "\\")
        if node.type in ("string", "concatenation", "command_name"):
            return self._joined(node, known)
        return self._text(node)

    def _joined(self, node: "Node", known: Mapping[str, str]) -> str:
        """Return the parts of a word, with the bytes between them that the grammar leaves out."""
        quoted = node.type == "string"
        end = node.end_byte - 1 if quoted else node.end_byte
        at = node.start_byte + quoted
        pieces = []
        for child in node.named_children:
            pieces += [self._data[at : child.start_byte].decode(), self._word(child, known)]
            at = child.end_byte
        return "".join([*pieces, self._data[at:end].decode(errors="replace")])


def _unescaped(word: str) -> str:
    if "\\" not in word:
        return word
    import re

    return re.sub(r"\\(.)", r"\1", word, flags=re.DOTALL)
