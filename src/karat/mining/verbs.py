"""The verb that opens a message, as one would type it into a search: "Fixed" becomes "fix"."""

import re

__all__ = ["imperative"]

# Verbs that open commit messages. Only these are turned, so that "Nested", "Unused" or "Related"
# stay the adjectives that they are.
_REGULAR = """
accept account acquire activate adapt add address adjust adopt advance align allow alter append
apply assert assign attach avoid backport block bump bypass cache calculate call cancel capture cast
catch change check clarify clean clear close coerce collapse collect combine compare compile
complete compute configure consider consolidate construct convert copy correct count create
customize deal declare decode decorate decouple decrease decrement default defer define delay
delegate delete deny deprecate detect determine disable disallow discard display document drop
duplicate emit enable encode enforce enhance ensure escape evaluate exclude execute exit expand
expect explain expose extend extract factor fail filter finish fix flatten flush follow force format
forward free generate guarantee guard handle harden honor honour hook identify ignore implement
import improve include increase increment indicate inherit initialize inject inline insert install
integrate interpret introduce invalidate invoke isolate issue join leak limit link list load
localize lock log loosen lower maintain map mark mask match mention merge migrate minimize mirror
mock modify move name normalize notify obey omit open optimize order override pack parameterize
parse pass patch perform permit pin populate port prefer prefix prepare preserve prevent print
process prohibit promote propagate protect provide prune pull push quote raise re-add re-enable
readd rearrange record reduce refactor refine refresh refuse register reject relax release reload
rely remove rename render reorganize repair replace report require reset resolve respect restore
restrict restructure retain retry return reuse revert revise rework rewrite rollback round sanitize
save scope select separate serialize serve silence simplify skip slice sort specify split stabilize
standardize start stop store strip support suppress surface swap switch synchronize terminate test
tighten toggle track transform translate treat trigger trim truncate tune tweak unify unquote
unregister update upgrade use utilize validate verify wait warn wrap
"""

# Their last consonant is doubled.
_DOUBLING = """
cut defer drop emit get log map omit permit pin prefer put run set skip split stop strip swap trim
wrap
"""
_DOUBLED = frozenset(_DOUBLING.split())

_IRREGULAR = {
    "brought": "bring",
    "built": "build",
    "caught": "catch",
    "chose": "choose",
    "did": "do",
    "dealt": "deal",
    "forbade": "forbid",
    "found": "find",
    "gave": "give",
    "got": "get",
    "hid": "hide",
    "hidden": "hide",
    "kept": "keep",
    "left": "leave",
    "let": "let",
    "made": "make",
    "overrode": "override",
    "ran": "run",
    "rebuilt": "rebuild",
    "rewrote": "rewrite",
    "sent": "send",
    "shown": "show",
    "showed": "show",
    "sped": "speed",
    "split": "split",
    "taught": "teach",
    "threw": "throw",
    "took": "take",
    "undid": "undo",
    "went": "go",
    "wrote": "write",
}
_IRREGULAR_BASES = (
    "bring build choose do find forbid get give hide keep let make put run send set show speed "
    "take teach throw write"
)

# Forms that open a message as a noun more often than as a verb: "Changes to ...", "Logging of ...".
_NOUN_FORMS = """
accounts addresses advances calls changes checks copies counts defaults documents filters forces
forwards guards hooks issues leaks limits links lists loads locks logs maps marks masks matches
names orders packs patches ports prefixes processes quotes releases reports returns rounds scopes
slices sorts splits starts switches tests tracks transforms triggers updates uses upgrades imports
exits default tweaks addressing caching casting encoding decoding formatting handling hooking
importing leaking linking listing loading locking logging mapping matching mocking naming ordering
packing parsing patching porting processing quoting rendering reporting rounding routing scoping
serving slicing sorting testing tracking translating warning
"""
_NOUNS = frozenset(_NOUN_FORMS.split())


def _forms(verb: str) -> tuple[str, str, str]:
    """Return the past, the gerund and the third person of a regular *verb*."""
    if verb.endswith("e"):
        return f"{verb}d", f"{verb[:-1]}ing", f"{verb}s"
    if verb.endswith("y") and verb[-2] not in "aeo":
        return f"{verb[:-1]}ied", f"{verb}ing", f"{verb[:-1]}ies"
    third = f"{verb}es" if verb.endswith(("s", "sh", "ch", "x", "z")) else f"{verb}s"
    stem = verb + verb[-1] if verb in _DOUBLED else verb
    return f"{stem}ed", f"{stem}ing", third


_BASES = {form: verb for verb in _REGULAR.split() for form in _forms(verb) if form not in _NOUNS}
_BASES |= {_forms(verb)[1]: verb for verb in _IRREGULAR_BASES.split()}
_BASES |= {verb: verb for verb in (*_REGULAR.split(), *_IRREGULAR_BASES.split())}
_BASES |= _IRREGULAR
_BRITISH = re.compile(r"is(e[sd]?|ing)$")


def imperative(word: str) -> str:
    """Return the bare verb of which *word* is a form, or "" where it opens no order.

    >>> imperative("Fixed"), imperative("Stopped"), imperative("Made"), imperative("Adding")
    ('fix', 'stop', 'make', 'add')
    >>> imperative("Logging"), imperative("Nested"), imperative("HTTP")
    ('', '', '')
    """
    lower = word.lower()
    return _BASES.get(lower) or _BASES.get(_BRITISH.sub(r"iz\1", lower), "")
