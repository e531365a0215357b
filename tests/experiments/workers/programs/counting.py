"""An embedder that writes down what it embeds, in the file of the variable EMBEDDED."""

import os
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

from karat.engines.embedding.base import Kind
from karat.engines.embedding.texts import Vectors, unit


class Counting:
    """Embeds by the hash of a text; "break" in one raises an error, "leave" ends the process."""

    name = "counting"
    digest = "c" * 64
    dimension = 8
    max_tokens = None

    def __init__(self, argument: str = "") -> None:
        """Take no argument."""

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Return one row a text."""
        if any("break" in text for text in texts):
            raise ValueError("the model is broken")
        if any("leave" in text for text in texts):
            os._exit(7)
        hashes = [sha256(text.encode()).hexdigest() for text in texts]
        if kind == "document":
            with Path(os.environ["EMBEDDED"]).open("a") as file:
                file.write("".join(f"{one}\n" for one in hashes))
        seeds = [int(one[:8], 16) for one in hashes]
        return unit(np.stack([np.random.default_rng(seed).standard_normal(8) for seed in seeds]))
