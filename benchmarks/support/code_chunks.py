"""Chunks of code for the benchmarks: from a repository, or synthetic with realistic statistics."""

import random
import re
from pathlib import Path

import numpy as np

CHUNK_CHARACTERS = 1_370
LARGEST_FILE = 1_000_000
ENDINGS = {
    *(".c", ".cc", ".cpp", ".cs", ".go", ".h", ".java", ".js", ".kt", ".md", ".php", ".py"),
    *(".rb", ".rs", ".rst", ".scala", ".sh", ".swift", ".ts", ".txt"),
}
PROSE = re.compile(r'(?:"""|// |/// |# )([A-Z][^\n"]{30,140}?)(?:\.|"""|\n)')
SYLLABLES = "ba con der ex fil gen han in jo ke lo map ne out par qu re set ta un val wri ya zo"
COMMON = (
    "the a to of and is for in this that with if not return self def err nil func string int value "
    "name data type get set new error test context key list path config"
)


def of_tree(root: Path, limit: int) -> list[str]:
    """Return at most *limit* chunks of the text files below *root*, drawn with a fixed seed."""
    chunks: list[str] = []
    for path in sorted(root.rglob("*")):
        if path.suffix in ENDINGS and path.is_file() and path.stat().st_size <= LARGEST_FILE:
            chunks += cut(path.read_text(encoding="utf-8", errors="replace"))
    random.Random(1).shuffle(chunks)
    return chunks[:limit]


def cut(text: str) -> list[str]:
    """Return *text* in pieces of whole lines."""
    chunks, lines, size = [], [], 0
    for line in text.splitlines(keepends=True):
        lines.append(line)
        size += len(line)
        if size >= CHUNK_CHARACTERS:
            chunks.append("".join(lines))
            lines, size = [], 0
    return [*chunks, "".join(lines)] if lines else chunks


def made_up(limit: int) -> list[str]:
    """Return *limit* chunks of identifiers whose frequencies follow Zipf's law, with comments."""
    rng = np.random.default_rng(1)
    parts = [
        *COMMON.split(),
        *sorted({"".join(rng.choice(SYLLABLES.split(), 2 + n % 3)) for n in range(30_000)}),
    ]
    identifiers = parts[:3_000]
    for number in range(250_000):
        words = [parts[min(int(place), len(parts) - 1)] for place in rng.zipf(1.15, 2 + number % 3)]
        joined = "_".join(words) if number % 2 else "".join(map(str.title, words))
        identifiers.append(joined[:60])
    chunks = []
    for _ in range(limit):
        places = np.minimum(rng.zipf(1.1, 150) - 1, len(identifiers) - 1)
        words = [identifiers[place] for place in places.tolist()]
        comment = " ".join(words[:12]).replace("_", " ").capitalize()
        lines = [
            f"    // {comment}.",
            *(
                f"    {words[n]} = {words[n + 1]}.{words[n + 2]}({words[n + 3]}, {words[n + 4]})"
                for n in range(12, 145, 5)
            ),
        ]
        chunks.append("\n".join(lines))
    return chunks


def queries(chunks: list[str], limit: int) -> list[str]:
    """Return comments out of *chunks* as queries, drawn with a fixed seed."""
    found = [match[1] for chunk in chunks if (match := PROSE.search(chunk))]
    random.Random(2).shuffle(found)
    return found[:limit]
