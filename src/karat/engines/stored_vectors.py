"""Vectors of a dense stage on a vector service: uploaded once, searched there, shared by all."""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from hashlib import sha256
from urllib.parse import urlsplit

import numpy as np

from karat.engines.fusion import Scores
from karat.engines.nearest import Mask, Vectors
from karat.engines.registry import ENGINES
from karat.engines.spec import check_options, parse_spec
from karat.engines.vector_rows import MOST_NEAREST, PROBE_DEPTH, PROBES, VectorRows
from karat.engines.vectors.store import VECTOR_STORES, VectorStore, check_store
from karat.errors import EngineError, InputError
from karat.model.spec import Spec, parse_call
from karat.system.files import without_user

# A store as it is written in the options of an engine: ``qdrant(url=http://host:6333, shards=3)``.
StoreSpec = Spec

# Texts whose vectors are looked up, embedded and uploaded in one step.
TEXTS_AT_ONCE = 1_024
# A replica may be behind for a moment; each attempt marks the missing items again.
MARK_ATTEMPTS = 5


def parse_store(value: str | Mapping[str, object], engine: str) -> StoreSpec | None:
    """Return the store in the option ``store`` of *engine*; None if it is empty.

    A text is a name with options; a mapping has ``type`` and the options beside it. Passwords and
    keys are rejected, because options are shown in names and reports.

    >>> parse_store("memory", "dense").name
    'in_memory'
    >>> parse_store("memory(api_key=secret)", "dense")
    Traceback (most recent call last):
    ...
    karat.errors.InputError: dense: store: a key or password would be shown in reports; put the key
    into an environment variable and write key_env=NAME
    """
    if not value:
        return None
    if isinstance(value, str):
        name, params = parse_call(value)
        options: dict[str, object] = dict(params)
    else:
        options = dict(value)
        name = str(options.pop("type", ""))
    if any(key.lower() == "api_key" for key in options) or _has_secret(str(options.get("url", ""))):
        raise InputError(
            f"{engine}: store: a key or password would be shown in reports; put the key into an "
            "environment variable and write key_env=NAME"
        )
    dsn = str(options.get("dsn", ""))
    if "password" in dsn or (dsn and urlsplit(dsn).password):
        raise InputError(
            f"{engine}: store: the password of dsn would be shown in reports; put the connection "
            "string into an environment variable and write dsn_env=NAME"
        )
    return Spec("vector_store", VECTOR_STORES.canonical(name), options)


def _has_secret(urls: str) -> bool:
    """Return whether one of several URLs has a user or a query, where keys are written."""
    return any(without_user(url) != url for url in urls.split())


def unshared_store(spec: Spec) -> str:
    """Return the store of an engine if only one process at a time can open it, else "".

    A store declares the options that make it so in its attribute ``one_process``.

    >>> unshared_store(Spec("engine", "rerank", {"over": "dense(store=in_memory)"}))
    ''
    """
    over = spec.params.get("over")
    if isinstance(over, str | Mapping):
        return unshared_store(parse_spec(over))
    value = spec.params.get("store")
    info = ENGINES.find(spec.name)
    if not isinstance(value, str | Mapping) or not (info and info.shares):
        return ""
    store = parse_store(value, spec.name)
    if store is None:
        return ""
    alone = getattr(VECTOR_STORES.get(store.name), "one_process", ())
    given = [option for option in alone if store.params.get(option)]
    return f"{store.name}({given[0]}=...)" if given else ""


def open_store(spec: StoreSpec) -> VectorStore:
    """Return the store that *spec* describes, connected."""
    factory = VECTOR_STORES.get(spec.name)
    options = check_options(factory, spec.params, what=f"store {spec.name}")
    return check_store(factory(**options), spec.name)


class StoredVectorTable(VectorRows):
    """Vectors by text in the store *spec*, in a namespace of the embedder with this *digest*.

    A text that the store has, from whatever corpus or run, is neither embedded nor uploaded again,
    so that an interrupted upload continues. A snapshot is the set of texts that are searched; its
    name is the hash of their keys. Items that the store does not return score 0.
    """

    texts_at_once = TEXTS_AT_ONCE

    def __init__(self, spec: StoreSpec, digest: str) -> None:
        """Connect to the store; nothing is uploaded yet."""
        self._store = open_store(spec)
        self._name = spec.name
        self._namespace = sha256(digest.encode()).hexdigest()[:32]
        self._keys: list[str] = []
        self._rows_by_key: dict[str, list[int]] = {}
        self._snapshot = ""

    def __len__(self) -> int:
        """Return the number of vectors."""
        return len(self._keys)

    @property
    def nbytes(self) -> int:
        """Return 0: the vectors are not in this process."""
        return 0

    def add(
        self,
        texts: Sequence[str],
        embed: Callable[[Sequence[str]], Vectors],
        *,
        left: int,  # noqa: ARG002 - the memory is that of the store
    ) -> int:
        """Upload the vectors of texts that the store lacks, and return how many those are."""
        keys = [_key(text) for text in texts]
        held = self._store.held(self._namespace, keys)
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in held}
        if missing:
            rows = embed(list(missing.values()))
            self._store.add(self._namespace, list(missing), rows)
        for key in keys:
            self._rows_by_key.setdefault(key, []).append(len(self._keys))
            self._keys.append(key)
        return len(missing)

    def prepare(self, live: Mask) -> None:
        """Mark the items of *live* as one snapshot, unless the store has it already."""
        keys = sorted({self._keys[row] for row in np.flatnonzero(live).tolist()})
        self._snapshot = sha256("\n".join(keys).encode()).hexdigest()[:32] if keys else ""
        self.__dict__.pop("recall", None)
        if not keys:
            return
        for _ in range(MARK_ATTEMPTS):
            if self._store.count(self._namespace, self._snapshot) == len(keys):
                # Another process may have marked them for exact searches.
                self._store.mark(self._namespace, self._snapshot, ())
                return
            self._store.mark(self._namespace, self._snapshot, keys)
        marked = self._store.count(self._namespace, self._snapshot)
        if marked != len(keys):
            raise EngineError(
                f"store {self._name}: {marked:,} of {len(keys):,} items are in the snapshot after "
                f"{MARK_ATTEMPTS} attempts; are all of its nodes up?"
            )

    def products(self, vector: Vectors, live: Mask | None = None) -> Scores:  # noqa: ARG002 - marked
        """Return the product of every item that the store finds with *vector*; others are 0."""
        scores: Scores = np.zeros(len(self._keys), np.float32)
        if self._snapshot:
            for key, score in self._store.nearest(
                self._namespace, vector, MOST_NEAREST, snapshot=self._snapshot
            ):
                scores[self._rows_by_key[key]] = max(score, 0.0)
        return scores

    @cached_property
    def recall(self) -> float | None:
        """Return the share of the ten nearest items that the store finds, against exact search.

        Measured on items of the snapshot as queries; None without any.
        """
        if not self._snapshot:
            return None
        step = max(1, len(self._keys) // PROBES)
        probes = sorted(set(self._keys[::step]))[:PROBES]
        retrieved_hits = exact_hits = 0
        for vector in self._store.vectors(self._namespace, probes):
            nearest = partial(
                self._store.nearest, self._namespace, vector, PROBE_DEPTH, snapshot=self._snapshot
            )
            exact = {near.key for near in nearest(exact=True)}
            retrieved_hits += len(exact & {near.key for near in nearest()})
            exact_hits += len(exact)
        return retrieved_hits / exact_hits if exact_hits else None

    def close(self) -> None:
        """Close the connection; the items stay in the store."""
        self._store.close()


def _key(text: str) -> str:
    """Return the key of a text: equal texts are one item."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]
