"""Models of sentence-transformers, from the hub or a folder."""

from typing import Any

from karat.errors import InputError, MissingExtra

__all__ = ["pretrained"]


def pretrained(kind: str, argument: str, *, spec: str, device: str | None = None) -> Any:
    """Return the model *argument*, a hub id or a folder, as *kind*, a class of the library.

    *spec* is what the user wrote before the colon. Code from the hub never runs.
    """
    if not argument:
        raise InputError(f"{spec}: no model is named; expected {spec}:<hub id or folder>")
    name = f"{spec}:{argument}"
    try:
        import sentence_transformers

        load = getattr(sentence_transformers, kind)
    except (ImportError, AttributeError):
        # The kind may be younger than the release that is installed.
        raise MissingExtra(
            "sentence-transformers", extra="transformers", purpose=f"the model {name}"
        ) from None
    try:
        return load(argument, device=device, trust_remote_code=False)
    except Exception as error:  # of torch, transformers, safetensors or the disk
        raise InputError(f"{name}: cannot load the model: {error}") from error
