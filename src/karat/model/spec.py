"""A configuration as a value: a kind, a name and parameters, with one canonical hash."""

from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Spec"]


@dataclass(frozen=True, slots=True, eq=False)
class Spec:
    """A configuration that can be stored, compared and built again.

    >>> Spec("engine", "bm25", {"k1": 1.5, "b": 0.75}).digest[:12]
    'cf6478afc034'
    >>> Spec("engine", "bm25", {"b": 0.75, "k1": 1.5}).digest[:12]
    'cf6478afc034'
    """

    kind: str
    name: str
    params: Mapping[str, object] = field(default_factory=dict)

    def canonical(self) -> str:
        """Return JSON with sorted keys and no blanks; NaN and infinity are rejected."""
        import json

        return json.dumps(
            {"kind": self.kind, "name": self.name, "params": dict(self.params)},
            sort_keys=True,
            separators=(",", ":"),
            ensure_ascii=False,
            allow_nan=False,
        )

    @property
    def digest(self) -> str:
        """Return the SHA-256 of the canonical form; equal specs have equal digests."""
        from hashlib import sha256

        return sha256(self.canonical().encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        """Compare the canonical forms: 1 and 1.0 differ, a list and a tuple are equal."""
        return self.canonical() == other.canonical() if isinstance(other, Spec) else NotImplemented

    def __hash__(self) -> int:
        """Hash the canonical form, so that specs can be dictionary keys."""
        return hash(self.canonical())
