"""Embeddings by any sentence-transformers model, from the hub or a folder."""

from collections.abc import Callable, Sequence
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from karat.engines.embedding.base import Embedder, Kind
from karat.engines.embedding.texts import Vectors, embed_distinct, embeddable, unit
from karat.errors import InputError, MissingExtra
from karat.extensions.models.device import (
    FULL,
    Batches,
    Placement,
    choice_of,
    place,
    put,
    to_numpy,
)

Model = TypeVar("Model")


class CheckedFactory(Generic[Model]):
    """Creates a model from its argument, which *check* checks before anything is loaded."""

    def __init__(self, create: Callable[[str], Model], check: Callable[[str], None]) -> None:
        """Store both."""
        self.check = check
        self._create = create

    def __call__(self, argument: str = "") -> Model:
        """Return the model."""
        return self._create(argument)


def check_pretrained(argument: str, *, spec: str) -> None:
    """Raise InputError if *argument* is empty, or is a path where no folder is.

    >>> check_pretrained("./nowhere", spec="colbert")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: colbert:./nowhere: cannot load the model: no such folder
    """
    model = choice_of(argument, spec=spec).model
    if not model:
        raise InputError(f"{spec}: no model is named; expected {spec}:<hub id or folder>")
    if model.startswith(("/", ".", "~")) and not Path(model).is_dir():
        raise InputError(f"{spec}:{model}: cannot load the model: no such folder")


class LoadedModel(NamedTuple):
    """A model of the library, and where it computes."""

    model: Any
    placement: Placement


def load_pretrained(kind: str, argument: str, *, spec: str) -> LoadedModel:
    """Return the model *argument*, a hub id or a folder, as *kind*, a class of the library.

    *spec* is what the user wrote before the colon; options stand behind a question mark. Code from
    the hub never runs.
    """
    check_pretrained(argument, spec=spec)
    choice = choice_of(argument, spec=spec)
    name = f"{spec}:{choice.model}"
    try:
        import sentence_transformers

        load = getattr(sentence_transformers, kind)
    except (ImportError, AttributeError):
        # The class may be newer than the installed release.
        raise MissingExtra(
            "sentence-transformers", extra="transformers", purpose=f"the model {name}"
        ) from None
    _check_reachable(choice.model, name)
    placement = place(choice)
    try:
        model = load(choice.model, device=placement.device, trust_remote_code=False)
    except Exception as error:  # of torch, transformers, safetensors or the disk
        raise InputError(f"{name}: cannot load the model: {error}") from error
    return LoadedModel(model, placement)


def _check_reachable(argument: str, name: str) -> None:
    """Raise InputError if *argument* is neither here nor on a hub that can be reached.

    The library itself tries for a minute, and prints each attempt.
    """
    from huggingface_hub import HfApi, try_to_load_from_cache

    repositories = (argument, f"sentence-transformers/{argument}")
    if Path(argument).is_dir() or any(
        isinstance(try_to_load_from_cache(repository, file), str)
        for repository in repositories[: 1 if "/" in argument else 2]
        for file in ("config.json", "modules.json")
    ):
        return
    try:
        HfApi().model_info(argument, timeout=HUB_TIMEOUT_S)
    except OSError:  # the hub answers: loading says what is wrong with the name
        return
    except Exception as error:  # of httpx, or of the library in offline mode
        raise InputError(
            f"{name}: no folder {argument} here, and the model hub cannot be reached: {error}"
        ) from error


HUB_TIMEOUT_S = 10.0


class TransformerEmbedder(Embedder):
    """A loaded SentenceTransformer; its own prompts for documents and queries are used."""

    has_token_vectors = True

    def __init__(self, loaded: LoadedModel, *, name: str) -> None:
        """Store the model, hash its weights, and give it its precision."""
        model, placement = loaded
        self._model = model
        self.name = name
        self.placement = placement
        self._batches = Batches(placement)
        self._prompts = {kind: text for kind, text in (model.prompts or {}).items() if text}
        settings: tuple[object, ...] = (model.max_seq_length, sorted(self._prompts.items()))
        if placement.precision != FULL:
            settings = (*settings, placement.precision)
        limit = model.max_seq_length
        self.max_tokens = None if limit is None else int(limit)
        self.digest = sha256(f"{_weights_hash(model)} {settings!r}".encode()).hexdigest()
        put(model, placement)

    @property
    def texts_at_once(self) -> int:  # type: ignore[override] # fewer once memory was short
        """Return how many texts to embed in one call."""
        return self._batches.texts_at_once

    @property
    def dimension(self) -> int:
        """Return the length of a row."""
        return int(self._model.get_embedding_dimension())

    def embed(self, texts: Sequence[str], kind: Kind = "document") -> Vectors:
        """Return one row of length 1 per text."""
        return embed_distinct(
            texts, self.dimension, lambda some: unit(to_numpy(self._encode(some, kind)))
        )

    def token_vectors(self, texts: Sequence[str], kind: Kind = "document") -> list[Vectors]:
        """Return one row of length 1 for each token of each text."""
        cleaned = [embeddable(text) for text in texts]
        filled = [text for text in cleaned if text.strip()]
        tokens = self._encode(filled, kind, output_value="token_embeddings") if filled else []
        vectors = iter(tokens)
        nothing = np.zeros((0, self.dimension), np.float32)
        return [unit(to_numpy(next(vectors))) if text.strip() else nothing for text in cleaned]

    def _encode(self, texts: list[str], kind: Kind, **options: Any) -> Any:
        encode = partial(
            self._model.encode,
            texts,
            prompt=self._prompts.get(kind),
            show_progress_bar=False,
            # Rows stay on the device, so that a GPU computes while the next texts are read.
            convert_to_tensor="output_value" not in options,
            convert_to_numpy=False,
            **options,
        )
        if kind == "query":
            # Padded beside others, a query would differ from itself in the last bits.
            return encode(batch_size=1)
        return self._batches.run(lambda size: encode(batch_size=size))


def transformer(argument: str) -> TransformerEmbedder:
    """Return the model *argument*, a hub id or a folder; code from the hub never runs."""
    loaded = load_pretrained("SentenceTransformer", argument, spec="st")
    return TransformerEmbedder(loaded, name=f"st:{argument}")


def _weights_hash(model: Any) -> str:
    import torch

    digest = sha256()
    for name, tensor in sorted(model.state_dict().items()):
        content = tensor.detach().cpu().contiguous()
        digest.update(f"{name} {content.dtype} {tuple(content.shape)}".encode())
        # As bytes, because numpy knows no bfloat16.
        digest.update(content.reshape(-1).view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()
