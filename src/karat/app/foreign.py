"""What a configuration names that does not come with Karat: programs, modules, models, hosts."""

import re
from collections.abc import Iterator, Mapping

from karat.corpus import CHUNKERS
from karat.engines.registry import ADAPTERS, ENGINES
from karat.engines.spec import parse_spec
from karat.model.spec import Spec

__all__ = ["foreign"]

# Models whose weights are packages that Karat knows by their digests.
PACKAGED = r"(granite|minilm|static)(:\d+)?"
MODELS = {
    "dense": PACKAGED,
    "hybrid": PACKAGED,
    "rerank": rf"(maxsim|late-interaction)(:{PACKAGED})?",
}
OPTION = r"((?!tokenizer=)\w+=\w+|tokenizer=(granite|minilm))"
CHUNKER = rf"({'|'.join(CHUNKERS.built_in())})(:\d+)?(\({OPTION}(,\s*{OPTION})*\))?"


def foreign(spec: Spec) -> Iterator[str]:
    """Yield what *spec* would run, load or send texts to that does not come with Karat.

    A model by a hub id, a folder or an address is such a thing; nothing is loaded to find out.

    >>> list(foreign(parse_spec("rerank(over=dense(model=granite:512), model=maxsim:minilm)")))
    []
    >>> list(foreign(parse_spec("rerank(over=dense(model=st:some/model), model=json:loads)")))
    ['model=json:loads', 'model=st:some/model']
    >>> list(foreign(parse_spec("json:loads")))
    ['json:loads']
    """
    if spec.name not in ENGINES.built_in() or spec.name in ADAPTERS:
        yield spec.name
        return
    own = {"model": MODELS.get(spec.name, ""), "chunker": CHUNKER}
    for option, names in own.items():
        value = spec.params.get(option, "")
        if value and not re.fullmatch(names, str(value), re.IGNORECASE):
            yield f"{option}={value}"
    over = spec.params.get("over")
    if isinstance(over, str | Mapping):
        yield from foreign(parse_spec(over))
