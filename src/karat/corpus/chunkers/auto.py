"""The chunker ``auto``: syntax for code, sections for prose, lines for the rest."""

from dataclasses import dataclass

from karat.corpus.chunkers.base import (
    SplitResult,
    require_positive,
    spec_of,
)
from karat.corpus.chunkers.grammars import GRAMMARS, grammar_version
from karat.corpus.chunkers.languages import PROSE
from karat.corpus.chunkers.sections import Sections
from karat.corpus.chunkers.syntax import Syntax
from karat.corpus.chunkers.window import Lines
from karat.model.spec import Spec

__all__ = ["Auto"]


@dataclass(frozen=True, slots=True)
class Auto:
    """Cuts each text as its language asks for; *code*, *prose*, *merge* and *lines* are the sizes.

    Without the extra ``code`` source code is cut into lines, and each split says so.

    >>> [Auto().split("# One", name).pieces[0].kind for name in ("python", "markdown", "")]
    ['code', 'prose', 'lines']
    """

    code: int = 1500
    prose: int = 2000
    merge: int = 400
    lines: int = 40

    def __post_init__(self) -> None:
        require_positive("auto", code=self.code, lines=self.lines)
        Sections(self.prose, self.merge)

    @property
    def spec(self) -> Spec:
        """Return the name and parameters, with the version of the grammars."""
        own = spec_of(self, "auto")
        return Spec(own.kind, own.name, {**own.params, "grammars": grammar_version()})

    def split(self, text: str, language: str) -> SplitResult:
        """Return the pieces of *text*."""
        if language in PROSE:
            return Sections(self.prose, self.merge).split(text, language)
        if language not in GRAMMARS:
            return Lines(self.lines).split(text, language)
        if not grammar_version():
            return SplitResult(Lines(self.lines).split(text, language).pieces, "no-extra-code")
        return Syntax(self.code).split(text, language)
