"""Collects documents for a corpus and counts what is left out, by reason."""

from collections import Counter
from dataclasses import dataclass, field

from karat.corpus.content import Content, content_traits, decode
from karat.corpus.snapshot import Corpus, Document, Reader
from karat.corpus.traits import Trait, classify

__all__ = ["MAX_BYTES", "Intake", "Look", "look_at"]

MAX_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class Look:
    """What one look at the bytes of a file told: why it is no text, or its traits and encoding."""

    reason: str
    traits: Trait
    encoding: str


def look_at(data: bytes, language: str) -> Look:
    """Return what the bytes say about a file of this *language*."""
    content = decode(data)
    return Look(content.reason, _traits(content, language), content.encoding)


def _traits(content: Content, language: str) -> Trait:
    return Trait.NONE if content.reason else content_traits(content.text, language)


@dataclass(slots=True)
class Intake:
    """What a source has found so far."""

    documents: list[Document] = field(default_factory=list)
    skipped: Counter[str] = field(default_factory=Counter)
    notes: Counter[str] = field(default_factory=Counter)

    def skip(self, reason: str) -> None:
        """Count one thing that is left out."""
        self.skipped[reason] += 1

    def add(self, path: str, blob: str, size: int, *, look: Look) -> None:
        """Take one text, or count why it is none."""
        if look.reason:
            self.skip(look.reason)
            return
        if look.encoding != "utf-8":
            self.notes[look.encoding] += 1
        language, traits = classify(path)
        if look.traits:
            traits |= look.traits
        self.documents.append(Document(path, blob, size, language, traits))

    def corpus(self, name: str, reader: Reader) -> Corpus:
        """Return what was taken, sorted by path; reasons are sorted as well."""
        documents = tuple(sorted(self.documents))
        skipped, notes = dict(sorted(self.skipped.items())), dict(sorted(self.notes.items()))
        return Corpus(name, documents, reader, skipped, notes)
