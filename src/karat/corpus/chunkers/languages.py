"""Which language a file is written in, by its name alone."""

from functools import lru_cache

__all__ = ["CONFIG", "PROSE", "language_of"]

PROSE = frozenset({"asciidoc", "markdown", "rst", "text"})
CONFIG = frozenset({"dockerfile", "ini", "json", "make", "properties", "toml", "xml", "yaml"})

_EXTENSIONS = {
    "asciidoc": "adoc asciidoc asc",
    "bash": "sh bash zsh ksh bats",
    "c": "c",
    "clojure": "clj cljs cljc edn",
    "cmake": "cmake",
    "cpp": "cc cpp cxx c++ h hh hpp hxx ipp inl cu cuh",
    "csharp": "cs csx",
    "css": "css",
    "dart": "dart",
    "elixir": "ex exs",
    "elm": "elm",
    "erlang": "erl hrl",
    "go": "go",
    "graphql": "graphql gql",
    "haskell": "hs",
    "html": "html htm xhtml",
    "ini": "ini cfg conf editorconfig",
    "java": "java",
    "javascript": "js jsx mjs cjs",
    "json": "json jsonc json5 webmanifest",
    "julia": "jl",
    "kotlin": "kt kts",
    "less": "less",
    "lua": "lua",
    "make": "mk mak",
    "markdown": "md markdown mdx mkd",
    "nix": "nix",
    "objc": "m mm",
    "ocaml": "ml",
    "perl": "pl pm",
    "php": "php phtml",
    "powershell": "ps1 psm1",
    "properties": "properties env",
    "proto": "proto",
    "python": "py pyi pyw",
    "r": "r",
    "rst": "rst rest",
    "ruby": "rb rake gemspec",
    "rust": "rs",
    "scala": "scala sc",
    "scss": "scss sass",
    "sql": "sql",
    "svelte": "svelte",
    "swift": "swift",
    "terraform": "tf tfvars hcl",
    "text": "txt text log org tex",
    "toml": "toml",
    "tsx": "tsx",
    "typescript": "ts mts cts",
    "vue": "vue",
    "xml": "xml xsd xsl xslt svg plist csproj",
    "yaml": "yaml yml",
    "zig": "zig",
}
_NAMES = {
    "bash": ".bashrc .profile .zshrc",
    "cmake": "cmakelists.txt",
    "dockerfile": "dockerfile containerfile",
    "ini": ".gitconfig .gitmodules .npmrc .flake8 requirements.txt constraints.txt",
    "json": ".eslintrc .babelrc .prettierrc",
    "make": "makefile gnumakefile justfile",
    "ruby": "gemfile rakefile vagrantfile podfile",
    "text": "authors changelog changes contributing copying install licence license news notice "
    "readme thanks todo",
    "toml": "pipfile cargo.lock poetry.lock uv.lock",
    "yaml": ".clang-format .clang-tidy pnpm-lock.yaml",
}
_BY_EXTENSION = {
    extension: language for language, line in _EXTENSIONS.items() for extension in line.split()
}
_BY_NAME = {name: language for language, line in _NAMES.items() for name in line.split()}


@lru_cache(maxsize=1 << 16)
def language_of(path: str) -> str:
    """Return the language of *path*, or "" where its name says nothing.

    The whole name decides before the extension; case does not matter. Headers (``.h``) are taken
    for C++, whose grammar reads those of C as well.

    >>> language_of("src/App.TSX"), language_of("docker/Dockerfile"), language_of("data.bin")
    ('tsx', 'dockerfile', '')
    """
    name = path.rpartition("/")[2].lower()
    known = _BY_NAME.get(name)
    if known:
        return known
    stem, dot, extension = name.rpartition(".")
    if not dot or not stem:
        return ""
    return _BY_EXTENSION.get(extension, "") or _BY_NAME.get(stem, "")
