"""What the extension adds: karat compare --set."""

from karat.extension import Extension

EXTENSION = Extension(
    "sets",
    "Compare engines on several gold sets with a corpus each, by macro and micro means.",
    adds={"set_comparison": {"sets": "karat.extensions.sets.compare:compare_sets"}},
    needs=("scores",),
)
